"""Which batches are trained when: all of them, once an epoch, at a learning rate that falls with the whole."""

from __future__ import annotations

import dataclasses
from collections import Counter

import cases
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muse import MUSE, _core
from muse.distributed.plan import Plan, ShardSize
from muse.distributed.replica import Replica, merge_deltas, piece_of, reduce_deltas, told
from muse.distributed.simulating import simulate


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(1, 9), st.integers(1, 3), st.integers(1, 5000),
    st.integers(0, 3000),
)  # fmt: skip
def test_each_batch_is_trained_once_an_epoch(batches, parts, epochs, interval, warm_up):
    plan = Plan([ShardSize(100 * count, count) for count in batches], epochs, interval, warm_up)
    done = 0.0
    for epoch in range(epochs):
        seen, last = Counter(), 0.0
        for one in plan.rounds(epoch, parts):
            assert len({stretch.part for stretch in one.stretches}) == len(one.stretches) <= parts
            for stretch in one.stretches:
                assert stretch.epoch == epoch
                for piece in stretch.pieces:
                    seen.update((piece.shard, batch) for batch in range(piece.first, piece.last))
                    assert done <= piece.start + 1e-12
                    assert piece.start < piece.end <= one.end + 1e-12
            done = last = one.end
        assert seen == {(shard, batch): 1 for shard, count in enumerate(batches) for batch in range(count)}
        if sum(batches):
            assert last == pytest.approx((epoch + 1) / epochs)


def test_one_worker_begins_alone():
    plan = Plan([ShardSize(10_000, 100)], 2, 1000, 2500)
    first = plan.rounds(0, 4)
    alone = [one for one in first if len(one.stretches) == 1]
    assert first[: len(alone)] == alone
    assert sum(piece.last - piece.first for one in alone for piece in one.stretches[0].pieces) == 25
    assert all(len(one.stretches) == 4 for one in plan.rounds(1, 4))
    assert all(len(one.stretches) == 1 for one in plan.rounds(0, 1))


def trainer_of(work, corpus, **place):
    replica = Replica(work, lambda number: corpus)
    replica.begin((0, 0))
    trainer, _ = replica._ready(0)
    if place:
        trainer.place(corpus, **place)
    return trainer


def test_rates_are_those_of_the_whole_training(tmp_path):
    work, (corpus,), _ = cases.prepared(tmp_path)
    plain = trainer_of(work, corpus)
    last, boundaries = plain.num_batches, _core.batch_boundaries(corpus, 64)
    placed = trainer_of(work, corpus, first_token=0, first_batch=0, last_batch=last, start=0.5, end=1.0)
    for batch in (0, last // 3, last):
        done = 0.5 + 0.5 * boundaries[batch] / corpus.n_tokens
        alpha = work.settings.alpha + (work.settings.min_alpha - work.settings.alpha) * done
        assert placed.alpha_at(0, batch) == pytest.approx(alpha, rel=1e-5)
    for wrong in ({"first_batch": 3, "last_batch": 3}, {"last_batch": last + 1}, {"start": 0.7, "end": 0.6},
                  {"end": 1.5}, {"first_token": -1}, {"start": float("nan")}):  # fmt: skip
        with pytest.raises(ValueError, match="stretch"):
            plain.place(
                corpus, **{"first_token": 0, "first_batch": 0, "last_batch": last, "start": 0.0, "end": 1.0, **wrong}
            )


def test_a_trainer_that_runs_is_not_placed_elsewhere(tmp_path):
    work, (corpus,), _ = cases.prepared(tmp_path)
    trainer, asked = trainer_of(work, corpus), []

    def tick(tokens):
        with pytest.raises(RuntimeError, match="running"):
            trainer.place(corpus, first_token=0, first_batch=0, last_batch=1, start=0.0, end=1.0)
        asked.append(tokens)
        return False

    for _ in range(1000):  # a run may be over before it is asked of
        trainer.run(0, 0, trainer.num_batches, 1, tick)
        if asked:
            break
    trainer.place(corpus, first_token=0, first_batch=0, last_batch=1, start=0.0, end=1.0)


def test_draws_are_those_of_the_whole_text(tmp_path):
    """A text in pieces that begin where batches do, one worker: the bits are those of the text in one piece."""
    asked = {"interval": 1 << 40, "min_alpha": "constant"}
    work, (corpus,), plan = cases.prepared(tmp_path, **asked)
    boundaries = _core.batch_boundaries(corpus, 64)
    cuts = np.searchsorted(corpus.offsets, boundaries[[5, 11, 12]])
    assert (corpus.offsets[cuts] == boundaries[[5, 11, 12]]).all()
    whole = simulate(work, [corpus], plan, 1)
    split_work, shards, split_plan = cases.prepared(tmp_path, cuts=tuple(cuts.tolist()), **asked)
    assert len(shards) == 4
    pieces = simulate(split_work, shards, split_plan, 1)
    for name, values in whole.values.items():
        np.testing.assert_array_equal(pieces.values[name], values)
    away = simulate(dataclasses.replace(split_work, first_tokens=(0, 1, 2, 3)), shards, split_plan, 1)
    assert (away.values["sense_vectors"] != whole.values["sense_vectors"]).any()


def test_one_part_learns_what_one_machine_does(tmp_path):
    work, (corpus,), plan = cases.prepared(tmp_path, interval=1 << 40)
    found = simulate(dataclasses.replace(work, wire="float32"), [corpus], plan, 1)
    model = MUSE(corpus_file=tmp_path / "text.txt", senses=1, workers=1, **cases.SETTINGS)
    for name, values in found.values.items():
        np.testing.assert_allclose(values, getattr(model.arrays, name), atol=1e-4)


def test_a_stretch_leaves_the_model_as_it_is_and_gives_the_same_bits_again(tmp_path):
    work, shards, plan = cases.prepared(tmp_path, cuts=(200,), interval=300)
    replica = Replica(work, shards.__getitem__)
    replica.begin((0, 0))
    before = replica.values()
    stretch = plan.rounds(0, 3)[1].stretches[2]
    one, again = replica.train(stretch), replica.train(stretch)
    assert one.tokens == again.tokens
    for name, packed in one.changes.items():
        for first, second in zip(packed, again.changes[name], strict=True):
            np.testing.assert_array_equal(first, second)
    for name, values in replica.values().items():
        np.testing.assert_array_equal(values, before[name])


def test_pieces_are_all_of_a_delta(tmp_path):
    work, shards, plan = cases.prepared(tmp_path, interval=300)
    replica, whole, rows = Replica(work, shards.__getitem__), Replica(work, shards.__getitem__), len(work.vocabulary)
    for one in (replica, whole):
        one.begin((0, 0))
    deltas = [replica.train(stretch) for stretch in plan.rounds(0, 3)[1].stretches]
    assert len(deltas) == 3
    whole.apply(reduce_deltas(deltas, merge_deltas))
    for count in (1, 2, 7, rows + 1):
        replica.begin((0, 0))
        pieces = [[piece_of(delta, number, count, rows) for delta in deltas] for number in range(count)]
        step = [merge_deltas(merge_deltas(*some[:2]), some[2]) for some in pieces]
        assert told(step)._replace(changes={}) == told(deltas)._replace(changes={})
        replica.apply(step)
        for name, values in whole.values().items():
            np.testing.assert_array_equal(replica.values()[name], values)


@pytest.mark.parametrize("rule", ["agreement", "adasum", "sum", "changed", "average"])
def test_every_rule_trains_every_token_once(tmp_path, rule):
    work, shards, plan = cases.prepared(tmp_path, cuts=(150, 151, 400), interval=300, warm_up=300, rate=2.0)
    done = simulate(work, shards, plan, 5, rule)
    assert done.tokens == [plan.tokens, plan.tokens]
    assert done.rounds == len(done.moved) > 5
    assert all(np.isfinite(values).all() for values in done.values.values())
