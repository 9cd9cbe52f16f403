"""The clustering measures against brute-force definitions, worked examples of the papers, and a published scorer."""

import itertools
import math
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muse.evaluation import clustering as c

labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=14)


def entropy(values):
    n = len(values)
    return -sum(k / n * math.log(k / n) for k in Counter(values).values())


def brute_v(gold, system):
    """Rosenberg and Hirschberg 2007, equations 1 to 4, beta = 1."""
    joint = entropy(list(zip(gold, system, strict=True)))
    h = 1.0 if entropy(gold) == 0 else 1 - (joint - entropy(system)) / entropy(gold)
    k = 1.0 if entropy(system) == 0 else 1 - (joint - entropy(gold)) / entropy(system)
    return 0.0 if h + k == 0 else 2 * h * k / (h + k)


def brute_bcubed(gold, system):
    n = range(len(gold))
    precision = np.mean([np.mean([gold[i] == gold[j] for j in n if system[i] == system[j]]) for i in n])
    recall = np.mean([np.mean([system[i] == system[j] for j in n if gold[i] == gold[j]]) for i in n])
    return precision, recall


def brute_pairs(gold, system):
    pairs = list(itertools.combinations(range(len(gold)), 2))
    true = {p for p in pairs if gold[p[0]] == gold[p[1]]}
    induced = {p for p in pairs if system[p[0]] == system[p[1]]}
    return true, induced, pairs


def brute_ari(gold, system):
    """Hubert and Arabie 1985, by counting pairs."""
    true, induced, pairs = brute_pairs(gold, system)
    expected = len(true) * len(induced) / len(pairs)
    largest = (len(true) + len(induced)) / 2
    return 1.0 if largest == expected else (len(true & induced) - expected) / (largest - expected)


@settings(max_examples=150, deadline=None)
@given(labels)
def test_hard_measures_are_their_definitions(data):
    gold, system = [g for g, _ in data], [f"s{s}" for _, s in data]
    assert c.v_measure(gold, system)[2] == pytest.approx(brute_v(gold, system), abs=1e-9)
    assert c.adjusted_rand(gold, system) == pytest.approx(brute_ari(gold, system), abs=1e-9)
    precision, recall = brute_bcubed(gold, system)
    got = c.b_cubed(gold, system)
    assert (got.precision, got.recall) == pytest.approx((precision, recall))
    assert got.f == pytest.approx(2 * precision * recall / (precision + recall))
    true, induced, _ = brute_pairs(gold, system)
    paired = c.paired_f_score(gold, system)
    if true or induced:
        assert paired.precision == pytest.approx(len(true & induced) / len(induced) if induced else 0)
        assert paired.recall == pytest.approx(len(true & induced) / len(true) if true else 0)
    else:
        assert paired == (1, 1, 1)
    groups = {s: [g for g, t in zip(gold, system, strict=True) if t == s] for s in system}
    assert c.purity(gold, system) == pytest.approx(
        sum(max(Counter(members).values()) for members in groups.values()) / len(gold)
    )
    assert c.effective_clusters(system) == pytest.approx(math.exp(entropy(system)))


@settings(max_examples=50, deadline=None)
@given(labels, st.permutations(range(4)))
def test_names_of_clusters_do_not_matter(data, names):
    gold, system = [g for g, _ in data], [s for _, s in data]
    renamed = np.array([names[s] for s in system])
    for measure in (c.v_measure, c.adjusted_rand, c.purity, c.paired_f_score, c.b_cubed):
        assert measure(np.array(gold), np.array(system)) == pytest.approx(measure(gold, renamed), abs=1e-12)


def spread(table):
    """Labels from a contingency table of clusters (rows) by classes (columns)."""
    cells = [(g, s) for s, row in enumerate(table) for g, count in enumerate(row) for _ in range(count)]
    return [g for g, _ in cells], [s for _, s in cells]


@pytest.mark.parametrize(
    ("table", "published"), [([[3, 1, 1], [1, 3, 1], [1, 1, 3]], 0.14), ([[3, 2, 0], [0, 3, 2], [2, 0, 3]], 0.39)]
)
def test_v_measure_of_the_example_solutions_of_its_paper(table, published):
    assert round(c.v_measure(*spread(table))[2], 2) == published


def test_b_cubed_of_the_example_of_amigo_et_al_2009():
    # Fourteen items; the paper prints precision .59 and recall .69, cut off after two digits.
    got = c.b_cubed(*spread([[4, 0, 0, 0, 0, 0], [1, 2, 0, 0, 0, 0], [0, 4, 1, 1, 1, 0]]))
    assert (math.floor(got.precision * 100), math.floor(got.recall * 100)) == (59, 69)


def brute_fuzzy_bcubed(gold, system):
    """Jurgens and Klapaftis 2013, section 4, item by item."""

    def agreement(labelling, i, j):
        a, b = labelling.get(i, {}), labelling.get(j, {})
        return sum(1 - abs(a[k] - b[k]) for k in a.keys() & b.keys())

    def share(own, other):
        total = 0.0
        for i in gold:
            others = [j for j in gold if j != i and own.get(i, {}).keys() & own.get(j, {}).keys()]
            ratios = [min(agreement(own, i, j), agreement(other, i, j)) / agreement(own, i, j) for j in others]
            total += sum(ratios) / len(ratios) if ratios else 0.0
        return total / len(gold)

    return share(system, gold), share(gold, system)


def brute_fuzzy_nmi(gold, system):
    """The same paper with Lancichetti et al. 2009, appendix B, in ten bins of weights."""
    items = list(gold)

    def columns(labelling):
        senses = sorted({s for i in items for s in labelling.get(i, {})})
        return [[labelling.get(i, {}).get(s, 0.0) for i in items] for s in senses] or [[0.0] * len(items)]

    def bins(column):
        return [next(b for b in range(10) if w <= (b + 1) / 10 + 1e-12) for w in column]

    def h2(values):
        return entropy(values) / math.log(2)

    def h(p):
        return -p * math.log2(p) if p > 0 else 0.0

    def left(own, other):
        total = 0.0
        for x in own:
            best = None
            for y in other:
                p = Counter((a > 0, b > 0) for a, b in zip(x, y, strict=True))
                n = len(items)
                if h(p[True, True] / n) + h(p[False, False] / n) < h(p[True, False] / n) + h(p[False, True] / n):
                    continue
                rest = h2(list(zip(bins(x), bins(y), strict=True))) - h2(bins(y))
                best = rest if best is None else min(best, rest)
            total += h2(bins(x)) if best is None else best
        return total

    x, y = columns(gold), columns(system)
    hx, hy = sum(h2(bins(a)) for a in x), sum(h2(bins(a)) for a in y)
    return 1.0 if max(hx, hy) <= 1e-12 else (hx - left(x, y) + hy - left(y, x)) / (2 * max(hx, hy))


senses = st.dictionaries(st.sampled_from("abc"), st.sampled_from([0.1, 0.25, 0.5, 1.0]), min_size=1, max_size=3)


def scaled(weights):
    return {s: w / max(weights.values()) for s, w in weights.items()}


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(senses, st.one_of(st.just({}), senses)), min_size=1, max_size=9))
def test_fuzzy_measures_are_their_definitions(data):
    gold = {f"i{n}": g for n, (g, _) in enumerate(data)}
    system = {f"i{n}": s for n, (_, s) in enumerate(data) if s}
    scaled_gold = {i: scaled(g) for i, g in gold.items()}
    scaled_system = {i: scaled(s) for i, s in system.items()}
    got = c.fuzzy_b_cubed(gold, system)
    assert (got.precision, got.recall) == pytest.approx(brute_fuzzy_bcubed(scaled_gold, scaled_system), abs=1e-9)
    assert c.fuzzy_nmi(gold, system) == pytest.approx(brute_fuzzy_nmi(scaled_gold, scaled_system), abs=1e-9)


def test_fuzzy_measures_of_equal_and_of_senseless_labellings():
    gold = {str(i): {"ab"[i % 2]: 1.0} for i in range(8)}
    assert c.fuzzy_b_cubed(gold, gold) == (1, 1, 1)
    assert c.fuzzy_nmi(gold, gold) == pytest.approx(1)
    one = {i: {"x": 1.0} for i in gold}
    assert c.fuzzy_nmi(gold, one) == 0
    assert c.fuzzy_nmi(one, one) == 1
    alone = {i: {i: 1.0} for i in gold}
    assert c.fuzzy_b_cubed(gold, alone) == (0, 0, 0)
    assert c.fuzzy_nmi(gold, {}) == 0
    assert c.fuzzy_b_cubed(gold, {"elsewhere": {"x": 1.0}}) == (0, 0, 0)


def test_one_sense_everywhere_is_defined():
    assert c.v_measure([0, 0], [1, 1]) == (1, 1, 1)
    assert c.v_measure([0, 1], [1, 1])[2] == 0
    assert c.adjusted_rand([0, 1, 0], [1, 1, 1]) == 0
    assert c.purity([0, 1, 0], [1, 1, 1]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("measure", [c.v_measure, c.adjusted_rand, c.purity, c.paired_f_score, c.b_cubed])
def test_unequal_and_empty_labellings_are_refused(measure):
    with pytest.raises(ValueError, match="2 true but 1 induced"):
        measure([0, 1], [0])
    with pytest.raises(ValueError, match="no occurrences"):
        measure([], [])


def test_fuzzy_measures_hold_blocks_and_not_all_pairs(monkeypatch):
    rng = np.random.default_rng(0)
    gold, system = (
        {str(i): {f"s{s}": float(rng.integers(1, 5)) for s in rng.integers(0, most, 2)} for i in range(300)}
        for most in (5, 300)
    )
    monkeypatch.setattr(c, "_CELLS", 300 * 300)
    whole = c.fuzzy_b_cubed(gold, system)
    monkeypatch.setattr(c, "_CELLS", 1000)
    assert c.fuzzy_b_cubed(gold, system) == pytest.approx(whole)
    monkeypatch.undo()
    many = {str(i): {str(i % 7): 1.0} for i in range(3000)}
    tracemalloc.start()
    c.fuzzy_b_cubed(many, many)
    c.fuzzy_nmi(many, {name: {name: 1.0} for name in many})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6  # all pairs would take 72 MB for each matrix


def test_weights_must_be_positive():
    for wrong in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="positive number"):
            c.fuzzy_b_cubed({"i": {"a": wrong}}, {})
    with pytest.raises(ValueError, match="no occurrences"):
        c.fuzzy_nmi({}, {})
    with pytest.raises(ValueError, match="no occurrences"):
        c.effective_clusters([])
