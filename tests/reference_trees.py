"""Sense trees in plain, slow float64 numpy: the encoder, contexts of uses, clusters, joins, cuts.

Nothing here is shared with the C++ core or with muse.data.sense_trees. A context is a loop over a window, a tree is a
dictionary of sets of leaves. What is replicated exactly is how random numbers are made (reference_draws.Draws).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reference_draws import Draws, alias_table

ENCODER = 11  # the purpose of its draws


def unit(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


# -- contexts ----------------------------------------------------------------------------------------------------------


@dataclass
class Space:
    topic: np.ndarray  # (V, Dt)
    weights: np.ndarray  # (V,)
    window: int
    power: float
    words: np.ndarray | None = None  # (V, De)
    positions: np.ndarray | None = None  # (2 W + 1, De)
    mean: np.ndarray | None = None
    transform: np.ndarray | None = None
    order_weight: float = 0.75


def encode(words: np.ndarray, positions: np.ndarray, sentence: list[int], place: int) -> np.ndarray:
    reach = len(positions) // 2
    h = np.zeros(words.shape[1])
    for p in range(-reach, reach + 1):
        if p != 0 and 0 <= place + p < len(sentence):
            h += positions[p + reach] * words[sentence[place + p]]
    return h


def mean_topic(space: Space, sentence: list[int], place: int) -> np.ndarray:
    """The weighted mean of the words around a use; place -1: all of the sentence counts."""
    topic, total = np.zeros(space.topic.shape[1]), 0.0
    for j, word in enumerate(sentence):
        distance = 1 if place < 0 else abs(j - place)
        if distance > 0 and distance <= space.window:
            weight = space.weights[word] * distance**-space.power
            topic += weight * space.topic[word]
            total += weight
    return topic / total if total > 0 else topic


def context(space: Space, sentence: list[int], place: int) -> np.ndarray:
    """The context of one use, (S,); place -1: all of the sentence counts."""
    parts = [unit(mean_topic(space, sentence, place))]
    if space.words is not None:
        order = np.zeros(space.transform.shape[1])
        if place >= 0 and len(sentence) > 1:
            h = encode(space.words, space.positions, sentence, place)
            order = space.order_weight * unit((h - space.mean) @ space.transform)
        parts.append(order)
    return unit(np.concatenate(parts))


def draw_word(table: list[tuple[int, int]], bits: int) -> int:
    column = (bits >> 32) * len(table) >> 32
    threshold, alias = table[column]
    return column if bits & (2**32 - 1) < threshold else alias


# -- the encoder -------------------------------------------------------------------------------------------------------


def train_encoder(words, outputs, positions, tokens, offsets, weights, keep, counts, options) -> tuple[int, float]:
    """One epoch in place; the number of targets, and the mean loss of those of the last tenth of the blocks."""
    stream = Draws(options["seed"], 0, ENCODER)
    table = alias_table(counts, 0.75)
    reach, block = options["window"], options["block_tokens"]
    squares = np.full(positions.shape, 1e-6)
    sentence_of = np.searchsorted(offsets, np.arange(len(tokens)), side="right") - 1
    blocks = -(-len(tokens) // block)
    targets, losses = 0, []
    for b in range(blocks):
        begin, end = b * block, min(len(tokens), (b + 1) * block)
        rate = options["alpha"] * max(1e-3, 1 - b / blocks)
        drawn_tokens = {
            t
            for t in range(max(0, begin - reach), min(len(tokens), end + reach))
            if stream.uniform(t) < keep[tokens[t]]
        }
        chosen = [t for t in range(begin, end) if t in drawn_tokens]
        targets += len(chosen)
        a, x = positions.copy(), words.copy()  # as they stand before the block

        def window(t, a=a):
            s = sentence_of[t]
            low, high = max(offsets[s], t - reach), min(offsets[s + 1], t + reach + 1)
            return [(j, j - t + reach) for j in range(low, high) if j != t]

        h = {t: sum((a[p] * x[tokens[j]] for j, p in window(t)), np.zeros(words.shape[1])) for t in chosen}
        g = {}
        for k, first in enumerate(range(0, len(chosen), options["group"])):
            group = chosen[first : first + options["group"]]
            drawn = [
                draw_word(table, stream.bits(begin, k * options["shared"] + i + 1)) for i in range(options["shared"])
            ]
            each, old = options["negative"] / max(1, options["shared"]), outputs.copy()
            loss = 0.0
            for t in group:
                g[t] = np.zeros(words.shape[1])
                for n in drawn:
                    if n != tokens[t]:
                        q = 1 / (1 + np.exp(-(h[t] @ old[n])))
                        loss -= each * np.log(max(1e-9, 1 - q))
                        g[t] -= each * q * old[n]
                        outputs[n] -= rate * each * q * h[t]
            own = {t: 1 / (1 + np.exp(-(h[t] @ outputs[tokens[t]]))) for t in group}
            for t in group:
                q = own[t]
                loss -= np.log(max(1e-9, q))
                g[t] += (1 - q) * outputs[tokens[t]]
                outputs[tokens[t]] += rate * (1 - q) * h[t]
            if b >= int(0.9 * blocks):
                losses.append((loss, len(group)))
        gradient = np.zeros(positions.shape)
        for t in chosen:
            for j, p in window(t):
                gradient[p] += g[t] * x[tokens[j]]
                if j in drawn_tokens:  # for all tokens of its word
                    words[tokens[j]] += rate * weights[tokens[j]] ** 2 / keep[tokens[j]] * g[t] * a[p]
        if chosen:
            squares += gradient**2
            positions += options["position_alpha"] * gradient / np.sqrt(squares)
    return targets, sum(loss for loss, _ in losses) / max(1, sum(n for _, n in losses))


# -- trees -------------------------------------------------------------------------------------------------------------


def joins(centroids: np.ndarray, counts: list[int], power: float) -> list[tuple[int, int, float]]:
    """Which two clusters are joined, one join after another, and how far apart they are."""
    sums = {k: counts[k] * centroids[k].astype(float) for k in range(len(counts))}
    sizes = {k: float(counts[k]) for k in range(len(counts))}
    total, made = float(sum(counts)), []
    while len(sums) > 1:
        best = None
        for a in sums:
            for b in sums:
                if a < b:
                    cosine = unit(sums[a]) @ unit(sums[b])
                    strength = (1 - cosine) * (2 * min(sizes[a], sizes[b]) / total) ** power
                    if best is None or strength < best[2]:
                        best = (a, b, strength)
        a, b, _ = best
        name = len(counts) + len(made)
        sums[name], sizes[name] = sums.pop(a) + sums.pop(b), sizes.pop(a) + sizes.pop(b)
        made.append(best)
    return made


def cut(leaves: int, made: list[tuple[int, int, float]], senses: int) -> list[set[int]]:
    """The sets of leaves that are senses."""
    parts = {k: {k} for k in range(leaves)}
    for i, (a, b, _) in enumerate(made):
        if len(parts) <= senses:
            break
        parts[leaves + i] = parts.pop(a) | parts.pop(b)
    return list(parts.values())
