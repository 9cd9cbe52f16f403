"""Training on a cluster of processes, with workers that are killed."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import cases
import numpy as np
import pytest

from muse import MUSE, DivergenceError, _core
from muse.corpus.encoding import encode_corpus
from muse.errors import NoWordsError

pytest.importorskip("dask.distributed", reason="dask is not installed: pip install 'muse-senses[dask]'")

import muse.distributed.rounds
from muse.distributed import tasks, train
from muse.distributed.plan import Plan
from muse.distributed.replica import Work
from muse.distributed.simulating import simulate
from muse.distributed.sources import find_shards

pytestmark = [
    pytest.mark.filterwarnings("default"),  # of Dask itself
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills no processes by signals"),
]
PLAN = {"parts": 3, "interval": 700, "warm_up": 500, "rate": 1.5, "shard_bytes": 9000}


@pytest.fixture(scope="module")
def client():
    with cases.cluster(2) as client:
        yield client


@pytest.fixture
def killing(client, monkeypatch):
    """Kills a worker after some of the rounds; which were trained is in the list that it gives."""
    accept, seen, at = muse.distributed.rounds.Rounds._accept, [], set()

    def accept_and_kill(self, one, step, delta, seconds):
        accept(self, one, step, delta, seconds)
        seen.append(one)
        if len(seen) in at:
            cases.kill_one(client, len(seen))

    monkeypatch.setattr(muse.distributed.rounds.Rounds, "_accept", accept_and_kill)
    return at


def simulated(text, settings, plan):
    """U and V as one process makes them of the same shards."""
    vocabulary, _ = encode_corpus(corpus_file=text, min_count=settings.min_count, workers=1)
    shards = []
    for shard in find_shards(str(text), size=plan["shard_bytes"]):
        encoder = _core.Encoder(vocab=list(vocabulary.words))
        shard.feed(encoder)
        shards.append(encoder.finish(np.arange(len(vocabulary), dtype=np.int32)))
    planned = Plan(cases.sizes_of(shards), settings.epochs, plan["interval"], plan["warm_up"])
    work = Work(settings, vocabulary, settings.epochs, plan["rate"], 1, "int16", planned.first_tokens)
    return simulate(work, shards, planned, plan["parts"])


def test_a_killed_worker_changes_nothing(client, tmp_path, killing):
    text = cases.write_text(tmp_path, count=1500)
    wanted = simulated(text, cases.settings(senses=1), PLAN)
    killing |= {4, 9}
    model, report = train(text, client, senses=1, workers=1, **PLAN, **cases.SETTINGS)
    assert report.is_exact
    assert report.rounds == wanted.rounds > 9
    assert report.tokens == wanted.tokens
    for name, values in wanted.values.items():
        np.testing.assert_array_equal(getattr(model.arrays, name), values)


def break_off(after, text, client, **asked):
    """Train, and stop as Ctrl-C does after so many rounds."""
    accept, seen = muse.distributed.rounds.Rounds._accept, []

    def accept_or_break(self, one, step, delta, seconds):
        if len(seen) == after:
            raise KeyboardInterrupt
        accept(self, one, step, delta, seconds)
        seen.append(one)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(muse.distributed.rounds.Rounds, "_accept", accept_or_break)
        with pytest.raises(KeyboardInterrupt):
            train(text, client, **asked)


def test_a_call_goes_on_where_another_was_broken_off(client, tmp_path):
    text, folder = cases.write_text(tmp_path, count=1500), tmp_path / "run"
    asked = {**PLAN, **cases.SETTINGS, "workers": 1, "checkpoint": folder, "checkpoint_seconds": 0}
    break_off(6, text, client, **asked)
    with pytest.raises(ValueError, match="another folder"):
        train(text, client, **{**asked, "interval": 999})
    model, report = train(text, client, **asked)
    assert report.resumed == [6]
    assert report.is_exact
    wanted = simulated(text, cases.settings(), PLAN)
    np.testing.assert_array_equal(model.arrays.collocation_vectors, wanted.values["collocation_vectors"])
    assert [row["stage"] for row in model.history] == ["words", "words", "trees"]
    model.save(tmp_path / "model.safetensors")
    again = MUSE.load(tmp_path / "model.safetensors")
    assert again.vocabulary.words == model.vocabulary.words == MUSE(
        corpus_file=text, **cases.SETTINGS, senses=1
    ).vocabulary.words  # fmt: skip
    assert train(text, client, **asked).report.resumed[-1] == report.rounds  # nothing is left but the trees


@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2), (2, 3)])
def test_a_training_is_taken_up_by_another_number_of_workers(client, tmp_path, monkeypatch, before, after):
    text, there = cases.write_text(tmp_path, count=1500), [before]
    asked = {**cases.SETTINGS, "senses": 1, "workers": 1, "checkpoint": tmp_path / "run", "checkpoint_seconds": 0}
    wait = muse.distributed.rounds.Cluster.wait_for_workers
    monkeypatch.setattr(muse.distributed.rounds.Cluster, "wait_for_workers", lambda self: (wait(self) * 2)[: there[0]])
    monkeypatch.setattr(muse.distributed.asked, "_LEAST_INTERVAL", 300)

    break_off(3, text, client, **asked)
    there[0] = after
    model, report = train(text, client, **asked)
    assert report.is_exact
    assert report.resumed == [3]
    assert report.parts == [before, after]
    rate = 2.0 if before > 1 else 1.0  # which stays
    assert model.history[0]["alpha"] == pytest.approx(0.025 * rate)
    assert model.history[1]["alpha"] == pytest.approx(0.0125 * rate, rel=0.01)


def what_is_left(dask_worker):
    return len(tasks._PLACES), [name.name for name in Path(dask_worker.local_directory).glob("*.npy")]


def test_two_trainings_at_once_come_out_as_one_does_and_leave_nothing(client, tmp_path):
    asked = {**PLAN, **cases.SETTINGS, "senses": 1, "workers": 1}
    texts = [cases.write_text(tmp_path, f"{seed}.txt", seed=seed, count=1000) for seed in (1, 2)]
    found = {}

    def one(text):
        found[text] = train(text, client, **asked)

    threads = [threading.Thread(target=one, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for text in texts:
        assert (found[text].report.is_exact, found[text].report.went_back) == (True, 0)
        wanted = simulated(text, cases.settings(senses=1), PLAN)
        np.testing.assert_array_equal(found[text].model.arrays.sense_vectors, wanted.values["sense_vectors"])
    assert list(client.run(what_is_left).values()) == [(0, []), (0, [])]
    assert not [key for key in client.futures if key.startswith("muse-")]
    assert not [topic for topic in client._event_handlers if topic.startswith("muse-")]


def test_a_client_that_does_not_reach_the_workers_goes_through_the_scheduler(client, tmp_path, monkeypatch):
    told = []

    async def unreachable(who_has, **_):
        told.append("gather")
        return {}, list(who_has), [], []

    async def refused(*_):
        told.append("scatter")
        raise OSError("no way to the workers")

    monkeypatch.setattr("distributed.client.gather_from_workers", unreachable)
    monkeypatch.setattr("distributed.client.scatter_to_workers", refused)
    text = cases.write_text(tmp_path)
    model, report = train(text, client, workers=1, **PLAN, **cases.SETTINGS)
    assert report.is_exact
    assert set(told) == {"gather", "scatter"}
    wanted = simulated(text, cases.settings(), PLAN)
    np.testing.assert_array_equal(model.arrays.collocation_vectors, wanted.values["collocation_vectors"])


@pytest.mark.parametrize("parts", [3, 5])
def test_changes_in_pieces_come_to_what_a_tree_makes_of_them(client, tmp_path, monkeypatch, parts):
    monkeypatch.setattr(muse.distributed.rounds, "_PIECE", 200)
    joins, submit = [], muse.distributed.rounds.Cluster.submit

    def submit_and_count(self, task, *args, **about):
        joins.append(len(args)) if task is tasks.join else None
        return submit(self, task, *args, **about)

    monkeypatch.setattr(muse.distributed.rounds.Cluster, "submit", submit_and_count)
    text, plan = cases.write_text(tmp_path, count=900), {**PLAN, "parts": parts}
    wanted = simulated(text, cases.settings(senses=1), plan)
    model, report = train(text, client, senses=1, workers=1, **plan, **cases.SETTINGS)
    assert report.is_exact
    assert set(joins) == {parts}
    assert report.moved == wanted.moved
    for name, values in wanted.values.items():
        np.testing.assert_array_equal(getattr(model.arrays, name), values)


def test_one_shard_is_trained_at_the_same_rate_by_all(client, tmp_path):
    text, plan = cases.write_text(tmp_path), {**PLAN, "shard_bytes": 10**6}
    wanted = simulated(text, cases.settings(senses=1), plan)
    model, _ = train(text, client, senses=1, workers=1, **plan, **cases.SETTINGS)
    np.testing.assert_array_equal(model.arrays.sense_vectors, wanted.values["sense_vectors"])


def test_a_checkpoint_is_of_its_text(client, tmp_path):
    bag = pytest.importorskip("dask.bag")
    asked = {**cases.SETTINGS, "senses": 1, "workers": 1, "epochs": 1, "checkpoint": tmp_path / "run"}
    one, other = (bag.from_sequence(cases.lines(100, seed=seed), npartitions=1) for seed in (1, 2))
    train(one, client, **asked)
    with pytest.raises(ValueError, match="sources"):
        train(other, client, **asked)
    assert train(bag.from_sequence(cases.lines(100), npartitions=1), client, **asked).report.resumed
    text, asked["checkpoint"] = cases.write_text(tmp_path), tmp_path / "other"
    train(text, client, **asked)
    text.write_text(text.read_text().replace("w2 ", "w4 "))
    os.utime(text, (1, 1))
    with pytest.raises(ValueError, match="sources"):
        train(text, client, **asked)


def test_errors_of_workers_are_those_of_one_machine(client, tmp_path):
    asked = {**cases.SETTINGS, "senses": 1, "workers": 1}
    (tmp_path / "latin.txt").write_bytes("caf\u00e9 au lait\n".encode("latin-1") * 50)
    with pytest.raises(ValueError, match=r"latin\.txt.*line 1"):
        train(tmp_path / "latin.txt", client, **asked)
    text = cases.write_text(tmp_path)
    with pytest.raises(NoWordsError, match="min_count=100000"):
        train(text, client, **{**asked, "min_count": 100_000})
    with pytest.raises(DivergenceError, match="lower rate"):
        train(text, client, **{**asked, "alpha": 10.0, "epochs": 20}, rate=100, interval=300)
    (tmp_path / "blank.txt").write_text("\n \n")
    with pytest.raises(NoWordsError, match="hold no words"):
        train(tmp_path / "blank.txt", client, **asked)
    with pytest.raises(OSError, match="checkpoint must be a folder"):
        train(text, client, checkpoint=text, **asked)
    with pytest.raises(TypeError, match=r"Client\(cluster\)"):
        train(text, client.cluster, **asked)
    with pytest.raises(FileNotFoundError, match="none"):
        train(tmp_path / "none.txt", client, **asked)


def test_clients_that_cannot_be_waited_for(client, tmp_path, monkeypatch):
    from distributed import Client

    text, closed = cases.write_text(tmp_path), Client(client.scheduler.address)
    closed.close()
    with pytest.raises(ValueError, match="closed"):
        train(text, closed)
    monkeypatch.setattr(Client, "asynchronous", True)
    with pytest.raises(TypeError, match="asynchronous"):
        train(text, client)


def test_a_bag_makes_the_model_that_its_text_makes(client, tmp_path):
    bag = pytest.importorskip("dask.bag")
    asked = {**cases.SETTINGS, "senses": 1, "workers": 1, "parts": 2, "interval": 1000, "wire": "float32"}
    text = cases.write_text(tmp_path)
    lines = bag.from_sequence(text.read_text().splitlines(), npartitions=1)
    found, wanted = (train(sources, client, **asked) for sources in (lines, text))
    assert found.report.is_exact
    assert found.model.vocabulary.words == wanted.model.vocabulary.words
    np.testing.assert_array_equal(found.model.arrays.sense_vectors, wanted.model.arrays.sense_vectors)
