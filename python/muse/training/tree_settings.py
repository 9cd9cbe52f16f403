"""How sense trees are grown."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TreeSettings"]


@dataclass(frozen=True)
class TreeSettings:
    """How sense trees are grown.

    Parameters
    ----------
    encoder_window, encoder_alpha, position_alpha, negative : int, float, float, int
        Of the encoder: places on each side, learning rates of its words and of its places, negatives a target.
    encoder_group, encoder_shared, encoder_block : int
        Targets that share negatives, how many they share, and tokens whose targets move the parameters at once.
    encoder_tokens : int
        Tokens of the text that the encoder reads, spread over all of it: so many, or half of the text where that is
        more; 0: all.
    encoder_size : int
        Dimensions that it works in, at most.
    encoder_learns_words : bool
        Whether its word vectors learn, or only the weights of places and the outputs.
    sample : float
        Subsampling of its targets, as in training.
    topic_window, topic_power, order_weight, whitening : int, float, float, float
        The window of topics, the power of the distance that words weigh less by, the weight of the second block, and
        the exponent of the whitening.
    whitening_words, whitening_uses, whitening_count : int
        So many words with at least so many occurrences, and so many uses of each, give the within-word covariance.
    uses, leaves, uses_a_leaf, least_uses : int
        Of each word at most so many uses are clustered, into at most so many leaves, with so many uses for each at
        least; words with fewer uses than `least_uses` have one sense.
    restarts, iterations, first_uses, passes : int
        Of k-means, which runs over `first_uses` uses of a word (0: all) and then `passes` times over all.
    share_power : float
        How much rather a small cluster is joined than a large one.
    map_words, map_count : int, int
        How many words with at least how many occurrences the map from mean topics to word vectors learns from.
    shrinkage : float, optional
        Part of what the map says that a node adds to its word's vector. Default: measured on the text, 0.5 where it is
        too small for that.
    senses : int
        Of a word, by default.
    prior_weight : float
        What the logarithm of a sense's share adds to its score, the cosine of its mean context with the context.
    temperature : float, optional
        Of the softmax of scores. Default: measured on the text, 0.15 where it is too small.
    auto_strength : float, optional
        How wide a join must be that ``senses="auto"`` undoes. Default: measured on the text, 0.5 where it is too small.
    seed : int
        Of all draws.
    """

    encoder_window: int = 5
    encoder_alpha: float = 0.025
    position_alpha: float = 0.05
    negative: int = 5
    encoder_group: int = 16
    encoder_shared: int = 8
    encoder_block: int = 256
    encoder_tokens: int = 8_000_000
    encoder_size: int = 100
    encoder_learns_words: bool = True
    sample: float = 1e-4
    topic_window: int = 60
    topic_power: float = 0.5
    order_weight: float = 0.75
    whitening: float = 0.75
    whitening_words: int = 2000
    whitening_uses: int = 40
    whitening_count: int = 50
    uses: int = 1500
    leaves: int = 12
    uses_a_leaf: int = 25
    least_uses: int = 50
    restarts: int = 1
    iterations: int = 10
    first_uses: int = 400
    passes: int = 2
    share_power: float = 0.3
    map_words: int = 3000
    map_count: int = 100
    shrinkage: float | None = None
    senses: int = 4
    prior_weight: float = 0.05
    temperature: float | None = None
    auto_strength: float | None = None
    seed: int = 1
