"""What is wrong with arguments and checkpoints, and who trains what."""

from __future__ import annotations

import builtins
import json
import multiprocessing

import cases
import numpy as np
import pytest

from muse.callbacks import Callback
from muse.data.vocabulary import Vocabulary
from muse.distributed import Report, tasks, train
from muse.distributed.checkpoints import NAME, Stored, read, write
from muse.distributed.cluster import local_cluster
from muse.distributed.plan import Round, ShardSize, Stretch
from muse.distributed.rounds import Rounds
from muse.distributed.sources import find_shards
from muse.distributed.tasks import Job

dask = pytest.importorskip("dask.distributed", reason="dask is not installed: pip install 'muse-senses[dask]'")
pytestmark = pytest.mark.filterwarnings("default")  # of Dask itself


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"vectorsize": 5}, TypeError, "vectorsize"),
        ({"parts": 0}, ValueError, "parts"),
        ({"interval": 1.5}, TypeError, "interval"),
        ({"warm_up": -1}, ValueError, "warm_up"),
        ({"rate": 0}, ValueError, "rate"),
        ({"wire": "float8"}, ValueError, "wire must be"),
        ({"patience": 0}, ValueError, "patience"),
        ({"most_words": 0}, ValueError, "most_words"),
        ({"trim_rule": lambda *_: 0}, ValueError, "min_count"),
        ({"callbacks": [Callback()]}, ValueError, "callbacks"),
        ({"checkpoint_dir": "x"}, ValueError, "checkpoint="),
        ({"device": "cuda"}, ValueError, "processors"),
        ({}, TypeError, "client must be"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_starts(tmp_path, asked, error, message):
    with pytest.raises(error, match=message):
        train(cases.write_text(tmp_path), "tcp://127.0.0.1:1" if not asked else None, **asked)


def test_recipes_that_train_senses_jointly_are_refused(tmp_path):
    from muse import Paper, Split

    for recipe in (Paper(), Split()):
        with pytest.raises(ValueError, match="on one machine"):
            train(cases.write_text(tmp_path), recipe=recipe)


def test_without_dask_the_error_names_the_extra(tmp_path, monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.partition(".")[0] in ("distributed", "dask"):
            raise ImportError(f"No module named {name!r}")
        return real(name, *args, **kwargs)

    monkeypatch.setattr("importlib.import_module", lambda name: missing(name))
    with pytest.raises(ImportError, match=r"muse-senses\[dask\]"):
        train(cases.write_text(tmp_path))


def test_a_script_without_its_guard_is_told_of_it(monkeypatch):
    monkeypatch.setattr(multiprocessing.current_process(), "_inheriting", True, raising=False)
    with pytest.raises(RuntimeError, match="__main__"), local_cluster(1):
        pass


# -- checkpoints -------------------------------------------------------------------------------------------------------


def stored():
    words = Vocabulary(["a", "b\n", "c"], [5, 4, 3], raw_words=20, effective_min_count=2)
    values = {name: np.full((3, 2), i, np.float32) for i, name in enumerate(("sense_vectors", "collocation_vectors"))}
    report = Report(corpus_tokens=12, tokens=[12, 4], parts=[2, 3], rounds=3, places={"tcp://x": 16})
    return Stored("f", words, [ShardSize(12, 2, 3)], 2, 1, 4, [{"tokens": 1.5}, {}], values, report)


def test_checkpoints_hold_all(tmp_path):
    assert read(tmp_path) is None
    before = stored()
    write(tmp_path, before)
    after = read(tmp_path)
    assert after.vocabulary.words == before.vocabulary.words
    assert after.vocabulary.counts.tolist() == [5, 4, 3]
    assert (after.vocabulary.raw_words, after.vocabulary.effective_min_count) == (20, 2)
    for name in ("fingerprint", "sizes", "planned_for", "epoch", "round", "sums", "report"):
        assert getattr(after, name) == getattr(before, name)
    for name, values in before.values.items():
        np.testing.assert_array_equal(after.values[name], values)


@pytest.mark.parametrize(
    "damage", ["cut", "garbage", "empty", "bytes", "nan", "rows", "pickle", "none", "crypt", "packed"]
)
def test_damaged_checkpoints_are_errors_that_say_what_to_do(tmp_path, damage):
    good = stored()
    if damage == "nan":
        good.values["sense_vectors"][1, 1] = np.nan
    if damage == "rows":
        good.values["sense_vectors"] = np.zeros((4, 2), np.float32)
    if damage == "none":
        good.values = {}
    write(tmp_path, good)
    path = tmp_path / NAME
    data = path.read_bytes()
    changed = {"cut": data[: len(data) // 2], "garbage": b"x" * 100, "empty": b"",
               "bytes": data[:200] + bytes(b ^ 255 for b in data[200:400]) + data[400:]}  # fmt: skip
    at = data.index(b"PK\x01\x02")  # where the first entry of the archive's list begins
    changed["crypt"] = data[: at + 8] + b"\x01" + data[at + 9 :]
    changed["packed"] = data[: at + 10] + b"\x63" + data[at + 11 :]
    if damage in changed:
        path.write_bytes(changed[damage])
    if damage == "pickle":
        with path.open("wb") as file:
            np.savez(file, about=np.array([{"a": 1}], object), counts=np.zeros(3, np.int64))
    with pytest.raises(ValueError, match="checkpoint="):
        read(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("round", -1), ("round", 1.5), ("epoch", 3), ("sizes", [[11, 2, 3]]), ("sizes", []), ("sizes", [[12, 2, -3]]),
     ("planned_for", 0), ("sums", [3, 4]), ("words", ["a", 2, "c"]), ("report", {"tokens": [1]}),
     ("report", {"rounds": 1.5}), ("report", {"parts": [0, 2]}), ("report", {"places": 3}), ("report", {"moved": "x"}),
     ("report", {"seconds": [None]})],
)  # fmt: skip
def test_checkpoints_with_changed_values_are_errors_that_say_what_to_do(tmp_path, name, value):
    write(tmp_path, stored())
    with np.load(tmp_path / NAME) as kept:
        arrays = dict(kept)
    about = json.loads(arrays["about"].tobytes())
    about[name] = {**about[name], **value} if name == "report" else value
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    with (tmp_path / NAME).open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(ValueError, match="checkpoint="):
        read(tmp_path)


def test_a_link_that_leads_nowhere_is_no_missing_checkpoint(tmp_path):
    (tmp_path / NAME).symlink_to(tmp_path / "gone")
    with pytest.raises(ValueError, match="checkpoint="):
        read(tmp_path)


def test_a_text_that_has_changed_is_not_encoded_again(tmp_path):
    work, _, plan = cases.prepared(tmp_path)
    shards = tuple(find_shards(tmp_path / "text.txt"))
    job = Job("run", work, shards, tuple(plan.sizes))
    place = tasks._place(job)
    assert place.corpus(0).n_tokens == plan.sizes[0].tokens
    tasks.forget("run")
    assert "run" not in tasks._PLACES
    assert not list(place.folder.glob("*"))
    cases.write_text(tmp_path, count=500)
    with pytest.raises(ValueError, match="has changed since"):
        tasks._place(job).corpus(0)
    tasks.forget("run")


def test_a_worker_that_has_the_model_needs_no_step_and_one_that_has_not_takes_no_stale_one(tmp_path):
    work, _, plan = cases.prepared(tmp_path, interval=300)
    job = Job("run", work, tuple(find_shards(tmp_path / "text.txt")), tuple(plan.sizes))
    first, second = (one.stretches for one in plan.rounds(0, 2)[:2])
    step = [tasks.train(job, stretch, (0, 0), [], None) for stretch in first]
    good = tasks.train(job, second[0], (0, 1), step, None)
    assert not good.stale
    other = tasks.train(job, second[1], (0, 2), [], None)
    assert other.stale == (1,)
    assert tasks.train(job, second[0], (0, 2), [good, other], None).stale == (0,)
    assert tasks.state(job, (0, 2), [good, other]) is None
    tasks.train(job, second[0], (0, 1), step, None)
    again = tasks.train(job, second[0], (0, 1), [good, other], None)  # whose step was lost, and cannot be made again
    assert not again.stale
    np.testing.assert_array_equal(again.changes["sense_vectors"].sums, good.changes["sense_vectors"].sums)
    tasks.forget("run")


# -- who trains what ---------------------------------------------------------------------------------------------------


class Workers:
    """A cluster of which only the names of its workers are known."""

    def __init__(self, *names):
        self.names = list(names)

    def wait_for_workers(self):
        return self.names


def test_parts_stay_where_they_are_and_no_worker_has_two_more_than_another():
    rounds = Rounds.__new__(Rounds)
    rounds._cluster, rounds._homes, rounds._avoided = Workers("a", "b"), {}, set()
    one = Round(tuple(Stretch(0, part, ()) for part in range(4)), 1.0)
    first = rounds._choose_homes(one)
    assert sorted(first.values()) == ["a", "a", "b", "b"]
    assert rounds._choose_homes(one) == first
    rounds._cluster.names = ["a", "b", "c"]  # one has joined
    second = rounds._choose_homes(one)
    assert set(second.values()) == {"a", "b", "c"}
    assert sum(first[part] != second[part] for part in first) == 1
    rounds._avoided = {"a"}  # which is slow
    assert set(rounds._choose_homes(one).values()) == {"b", "c"}
    rounds._cluster.names = ["a"]  # and now the only one
    assert set(rounds._choose_homes(one).values()) == {"a"}
