"""A result at a prompt, in a notebook, and where a dict of measures is expected."""

import copy
import json
import pickle
import sys
import types

import numpy as np
import pytest

from muse.evaluation import EvaluationResult, PseudoWordTask, SenseKeyedVectors, WordSimilarityTask
from muse.evaluation.results import format_table, html_table


def result(items=0, **more):
    summary = {"pairs": 7, "rho": 0.5, "skipped": None, **more}
    return EvaluationResult("demo", "rho", summary, items=[{"word": "a" * 1000}] * items, notes=["a <b> & c"])


def test_a_result_at_a_prompt_is_a_line():
    assert repr(result()) == "<EvaluationResult demo: rho=0.500, pairs=7, skipped=->"
    big = result(items=5000, a=1, b=2)
    assert repr(big) == "<EvaluationResult demo: rho=0.500, pairs=7, skipped=-, a=1, 1 more measures, 5000 items>"
    assert len(repr([big, big])) < 250


def test_results_of_tasks_and_bounds_are_a_line():
    pytest.importorskip("sklearn")
    model = SenseKeyedVectors.from_word2vec_keys(list("abcd"), np.eye(4) + 1)
    found = WordSimilarityTask([(x, y, i) for i, x in enumerate("ab") for y in "cd"] * 50)(model)
    assert len(repr(found)) < 200
    lines = [[word, "x_y"] for word in "ab" * 20]
    task = PseudoWordTask(lines, {"x_y": [(i, 1, i % 2) for i in range(40)]})
    assert repr(task.baselines(model, sample=0)).startswith(
        "<PseudoWordBounds pseudo-word baselines: supervised v_measure=1.000, "
    )
    assert task.bounds == copy.deepcopy(task.bounds)
    assert pickle.loads(pickle.dumps(task.bounds)).to_dict() == task.bounds.to_dict()


def test_a_result_in_a_notebook_is_a_table_with_its_notes():
    shown = result(items=3)._repr_html_()
    assert shown.startswith("<p><b>demo</b></p>\n<table>")
    assert '<td style="text-align: left">rho</td><td style="text-align: right">0.500</td>' in shown
    assert "<ul><li>a &lt;b&gt; &amp; c</li></ul>" in shown
    assert "a" * 100 not in shown
    assert "<script>" not in EvaluationResult("<script>", "x", {"x": 1}, [{"<script>": "<script>"}])._repr_html_()
    assert "<ul>" not in EvaluationResult("t", "x", {"x": 1})._repr_html_()


def test_both_tables_have_the_same_cells():
    rows = [{"a": "x", "b": 1.0}, {"a": None, "c": True}]
    text = format_table(rows).split()
    cells = [part.partition("</")[0] for part in html_table(rows).split('">')[1:]]
    assert cells == text
    assert html_table(rows, ["b"]).count("<td") == 2


def test_the_measures_of_a_result_are_those_of_a_dict():
    got = result()
    assert "rho" in got
    assert "nope" not in got
    assert list(got) == list(got.keys()) == ["pairs", "rho", "skipped"]
    assert list(got.values()) == [7, 0.5, None]
    assert len(got) == 3
    assert dict(got) == {**got} == got.summary == got.to_dict()["summary"] == json.loads(got.to_json())["summary"]
    assert (got.get("rho"), got.get("nope"), got.get("nope", 0)) == (0.5, None, 0)
    with pytest.raises(KeyError, match="has no measure 'nope'"):
        got["nope"]


def test_numpy_takes_a_result_for_its_score():
    results = [result(), result(rho=0.7)]
    assert np.mean(results) == pytest.approx(0.6)
    assert np.array(results, dtype=float).tolist() == [0.5, 0.7]
    assert max(results, key=float) is results[1]
    assert np.float32(results[0]) == 0.5


def small_result(**summary):
    return EvaluationResult("demo", "rho", {"rho": np.float32(0.5), **summary}, items=[{"word": "a", "n": np.int64(3)}])


def test_result_prints_converts_and_stays_json():
    got = small_result(pairs=np.int64(7), missing=None)
    assert float(got) == got.score == got["rho"] == 0.5
    assert str(got).splitlines() == ["demo", "measure  value", "rho      0.500", "pairs        7", "missing      -"]
    assert json.loads(got.to_json(items=True))["items"] == [{"word": "a", "n": 3}]
    assert "items" not in got.to_dict()
    with pytest.raises(KeyError, match="has no measure 'nope'; it has rho"):
        got["nope"]
    with pytest.raises(ValueError, match="which must be"):
        got.to_pandas("rows")


def test_result_never_holds_nan():
    with pytest.raises(ValueError, match="came out as nan"):
        small_result(other=float("nan"))
    with pytest.raises(ValueError, match="is not a number"):
        EvaluationResult("demo", "rho", {"rho": None})


def test_to_pandas_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        small_result().to_pandas()


def test_to_pandas_hands_over_the_rows(monkeypatch):
    pandas = types.ModuleType("pandas")
    pandas.DataFrame = lambda rows: ("frame", rows)
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    assert small_result().to_pandas() == ("frame", [{"word": "a", "n": 3}])
    assert small_result().to_pandas("table") == ("frame", [{"measure": "rho", "value": 0.5}])


def test_table_aligns_numbers_right():
    assert format_table([{"a": "x", "b": 1.0}, {"a": "long", "b": None}]) == "a         b\nx     1.000\nlong      -"
    assert format_table([{"a": True}]) == "  a\nyes"
