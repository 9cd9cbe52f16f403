"""The random numbers of the reference: how draws are keyed, and words sampled (twin of src/cpp/math/random.h)."""

from __future__ import annotations

import math

import numpy as np

MASK = (1 << 64) - 1


def mix64(x: int) -> int:
    """The finaliser of splitmix64."""
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


class Draws:
    """Random numbers for one purpose in one epoch."""

    def __init__(self, seed: int, epoch: int, purpose: int) -> None:
        key = mix64(seed + 0x9E3779B97F4A7C15 & MASK)
        self.key = mix64(mix64(key + epoch & MASK) + purpose & MASK)

    def bits(self, position: int, index: int = 0) -> int:
        first = mix64(self.key ^ (position * 0x9E3779B97F4A7C15 & MASK))
        return mix64(first + index * 0xD1342543DE82EF95 & MASK)

    def uniform(self, position: int, index: int = 0) -> float:
        return (self.bits(position, index) >> 40) / 2**24

    def below(self, n: int, position: int, index: int = 0) -> int:
        return (self.bits(position, index) >> 32) * n >> 32


def keep_probabilities(counts: np.ndarray, sample: float) -> np.ndarray:
    """word2vec's subsampling: sqrt(t / f) + t / f, float32 (V,)."""
    if sample <= 0:
        return np.ones(len(counts), np.float32)
    ratio = sample * counts.sum() / counts
    return np.minimum(1.0, np.sqrt(ratio) + ratio).astype(np.float32)


def alias_table(counts: np.ndarray, exponent: float) -> list[tuple[int, int]]:
    """Vose's alias method: column i holds word i below a threshold of 2^32, its alias above."""
    n = len(counts)
    height = [math.pow(float(c), exponent) if c > 0 else 0.0 for c in counts]
    total = sum(height)
    height = [h * (n / total) for h in height]
    table = [(2**32 - 1, i) for i in range(n)]
    small = [i for i in range(n) if height[i] < 1]
    large = [i for i in range(n) if height[i] >= 1]
    while small and large:
        s, full = small.pop(), large[-1]
        table[s] = (int(min(2**32 - 1, height[s] * 2**32)), full)
        height[full] -= 1 - height[s]
        if height[full] < 1:
            small.append(large.pop())
    for s in small:
        if counts[s] <= 0:
            table[s] = (0, int(np.argmax(counts)))
    return table
