"""What the extension modules are to Python: no pickles of their memory, and no life in a subinterpreter."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import muse
from muse import LineSentence, Settings, _core, encode_corpus
from muse.selector.selection import selection_options
from muse.training.options import core_options
from toy import toy_arrays, toy_model

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def objects() -> list:
    _, corpus = encode_corpus([["a", "b"]] * 10)
    settings = Settings(vector_size=4)
    return [corpus, _core.Encoder(), toy_model().selector.tagger, selection_options(settings), _core.SplitOptions(),
            core_options(settings, 1)]  # fmt: skip


def classes(module) -> list[type]:
    return [kind for kind in vars(module).values() if type(kind).__name__ == "pybind11_type"]


def require_refusals(module, count: int) -> None:
    """Not by an object of each class: `__reduce_ex__` is looked up on the class."""
    assert len(classes(module)) >= count
    for kind in classes(module):
        for method in (kind.__reduce_ex__, kind.__reduce__):
            assert type(method).__name__ == "instancemethod", kind


def test_every_class_of_the_core_refuses_to_be_pickled():
    require_refusals(_core, 8)


def test_every_class_of_the_cuda_backend_refuses_to_be_pickled(backend):
    require_refusals(backend, 3)


@pytest.mark.parametrize("thing", objects(), ids=lambda thing: type(thing).__name__)
def test_objects_of_the_core_say_that_they_cannot_be_pickled(thing):
    says = rf"a muse\._core\.{type(thing).__name__} cannot be pickled or copied, since .*; pickle or save what it"
    for protocol in PROTOCOLS:
        with pytest.raises(TypeError, match=says):
            pickle.dumps(thing, protocol)
        with pytest.raises(TypeError, match=says):
            thing.__reduce_ex__(protocol)
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=says):
            copied(thing)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_holds_such_objects_is_pickled_without_them(protocol, tmp_path):
    model = toy_model()
    model.disambiguate("the head")  # which makes the tagger
    model.selector.workers = 3
    near = model.sv.most_similar("head#0"), model.wv.most_similar("head")
    (tmp_path / "text").write_text("the head\n")
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model, protocol))):
        assert (again.sv.most_similar("head#0"), again.wv.most_similar("head")) == near
    selector = pickle.loads(pickle.dumps(model.selector, protocol))
    assert selector.workers == 3
    (block,), (expected,) = selector.blocks(["the head"]), model.selector.blocks(["the head"])
    np.testing.assert_array_equal(block.probabilities, expected.probabilities)
    for view, answer in zip((model.sv, model.wv), near, strict=True):
        again = pickle.loads(pickle.dumps(view, protocol))
        assert again.most_similar(*(["head#0"] if view is model.sv else ["head"])) == answer
    sentences = LineSentence(tmp_path / "text")
    assert list(pickle.loads(pickle.dumps(sentences, protocol))) == [["the", "head"]]
    assert pickle.loads(pickle.dumps(toy_arrays(), protocol)).n_senses == toy_arrays().n_senses


def test_an_untrained_model_with_its_text_is_pickled_without_it():
    model = muse.MUSE(min_count=1, vector_size=4)
    model.build_vocab([["a", "b"]] * 10)
    for protocol in PROTOCOLS:
        again = pickle.loads(pickle.dumps(model, protocol))
        with pytest.raises(ValueError, match="there is no text to train on"):
            again.train()


def test_a_subinterpreter_gets_an_import_error():
    code = f"""
import {"_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"} as interpreters
interpreters.run_string(interpreters.create(), '''
try:
    import muse
except ImportError as error:
    print(error)
''')
"""
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "cannot be imported in a subinterpreter" in ended.stdout or (
        "does not support loading in subinterpreters" in ended.stdout  # numpy's word, with Python 3.12 and newer
    )
