"""Types of the C++ core; its docstrings are in src/cpp/bindings/."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from os import PathLike
from typing import Any, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

__version__: str

_Floats: TypeAlias = NDArray[np.float32]
_Doubles: TypeAlias = NDArray[np.float64]
_Int32: TypeAlias = NDArray[np.int32]
_Int64: TypeAlias = NDArray[np.int64]

def isa() -> str: ...
def isa_available(name: str) -> bool: ...

# -- bind_corpus.cpp ---------------------------------------------------------------------------------------------------

class Encoder:
    def __init__(
        self,
        vocab: Sequence[str] | None = None,
        max_vocab_size: int = 0,
        max_ram: int = 0,
        spill_dir: str | PathLike[str] = "",
        keep_rule: Callable[[str, int, int], bool] | None = None,
    ) -> None: ...
    def add_sentences(self, sentences: Iterable[Iterable[str]]) -> int: ...
    def add_text(self, chunk: bytes, source: str = "text") -> None: ...
    def end_text(self) -> None: ...
    def add_file(
        self, path: str | PathLike[str], workers: int = 1, progress: Callable[[int], object] | None = None
    ) -> bool: ...
    def vocabulary(self) -> tuple[list[str], _Int64]: ...
    def finish(self, mapping: _Int32) -> Corpus: ...
    @property
    def raw_tokens(self) -> int: ...
    @property
    def raw_sentences(self) -> int: ...

class Corpus:
    @staticmethod
    def from_arrays(tokens: NDArray[np.integer[Any]], offsets: NDArray[np.integer[Any]]) -> Corpus: ...
    @property
    def n_tokens(self) -> int: ...
    @property
    def n_sentences(self) -> int: ...
    @property
    def raw_tokens(self) -> int: ...
    @property
    def raw_sentences(self) -> int: ...
    @property
    def spilled(self) -> bool: ...
    @property
    def tokens(self) -> _Int32: ...
    @property
    def offsets(self) -> _Int64: ...

def add_postings(
    tokens: _Int32, base: int, first: int, filled: _Int64, ends: _Int64, places: NDArray[np.signedinteger[Any]]
) -> None: ...

# -- bind_train.cpp ----------------------------------------------------------------------------------------------------

class Strategy(Enum):
    greedy = 0
    eps_greedy = 1
    boltzmann = 2
    policy = 3
    smooth_policy = 4

class Formulation(Enum):
    one_sided = 0
    two_sided = 1
    factorized = 2

class Reward(Enum):
    likelihood = 0
    sampled_likelihood = 1

class Collocates(Enum):
    one = 0
    all = 1

class SelectionUpdate(Enum):
    paper = 0
    posterior = 1
    none = 2

class Options:
    strategy: Strategy
    formulation: Formulation
    reward: Reward
    collocates: Collocates
    selection_update: SelectionUpdate
    window: int
    shrink_windows: bool
    shrink_selection: bool
    selection: SelectionOptions
    negative: int
    group_size: int
    alpha: float
    min_alpha: float
    selection_alpha: float
    selection_mean: bool
    epsilon: float
    temperature: float
    batch_tokens: int
    posterior_weight: float
    train_context_vectors: bool
    sibling_share: float
    max_norm: float
    seed: int
    epochs: int
    def shared_negatives(self) -> int: ...

class _RunStats(TypedDict):
    targets: int
    pairs: int
    reward: float
    loss: float
    loss_pairs: int
    entropy: float
    entropy_targets: int
    tokens: int
    next_batch: int
    stopped: bool
    diverged: bool
    cut: bool
    sense_use: _Int64
    error: BaseException | None

class Trainer:
    def __init__(
        self,
        *,
        context_vectors: _Floats,
        selection_vectors: _Floats,
        sense_vectors: _Floats,
        collocation_vectors: _Floats,
        sense_offset: _Int64,
        word_counts: _Int64,
        corpus: Corpus,
        options: Options,
        sample: float,
        ns_exponent: float,
        context_weights: _Floats,
        forward_values: _Floats | None = None,
        backward_values: _Floats | None = None,
    ) -> None: ...
    @property
    def num_batches(self) -> int: ...
    def alpha_at(self, epoch: int, batch: int) -> float: ...
    def place(
        self, corpus: Corpus, *, first_token: int, first_batch: int, last_batch: int, start: float, end: float
    ) -> None: ...
    def run(
        self, epoch: int, first: int, last: int, workers: int, tick: Callable[[int], bool] | None = None
    ) -> _RunStats: ...

def aligned_zeros(rows: int, dim: int, used: bool = True) -> _Floats: ...
def give_back_memory() -> None: ...
def keep_probabilities(counts: _Int64, sample: float) -> _Floats: ...

# -- bind_distributed.cpp ----------------------------------------------------------------------------------------------

_Changes = tuple[NDArray[np.int32], NDArray[np.int16] | _Floats, _Floats, _Floats, NDArray[np.int32]]

def take_changes(
    work: _Floats, base: _Floats, shorter: bool, room: NDArray[np.int16] | _Floats | None = None
) -> _Changes: ...
def merge_changes(one: _Changes, other: _Changes, rule: str) -> _Changes: ...
def apply_changes(
    base: _Floats, works: list[_Floats], one: _Changes, other: _Changes | None, parts: int, rule: str
) -> None: ...
def agreement(cosines: NDArray[np.float64], workers: NDArray[np.int32]) -> _Floats: ...
def map_corpus(tokens: NDArray[np.int32], offsets: _Int64) -> Corpus: ...
def batch_boundaries(corpus: Corpus, batch_tokens: int) -> _Int64: ...

# -- bind_selection.cpp ------------------------------------------------------------------------------------------------

class SelectionOptions:
    window: int
    mean: bool
    full_text: bool
    distance: list[float]

def select_senses(
    context_vectors: _Floats,
    selection_vectors: _Floats,
    sense_offset: _Int64,
    context_weights: _Floats,
    options: SelectionOptions,
    tokens: _Int32,
    offsets: _Int64,
    temperature: float = 1.0,
    workers: int = 1,
    prior: _Floats = ...,
) -> tuple[_Int32, _Floats]: ...

class DeviceSelector: ...

class Tagger:
    def __init__(
        self,
        words: Sequence[str],
        context_vectors: _Floats,
        selection_vectors: _Floats,
        sense_offset: _Int64,
        context_weights: _Floats,
        options: SelectionOptions,
        temperature: float = 1.0,
        device: DeviceSelector | None = None,
        prior: _Floats = ...,
    ) -> None: ...
    @staticmethod
    def by_uses(
        words: Sequence[str],
        space: UseSpace,
        selection_vectors: _Floats,
        sense_offset: _Int64,
        bias: _Floats,
        temperature: float,
        prior: _Floats = ...,
    ) -> Tagger: ...
    def select(self, sentences: list[Sequence[str]], workers: int = 1) -> tuple[_Int32, _Floats, _Floats, _Int64]: ...
    def tag(
        self,
        text: bytes,
        mark: str = "#",
        min_margin: float = 0.0,
        workers: int = 1,
        source: str = "text",
        line: int = 1,
    ) -> tuple[bytes, int, int]: ...

# -- bind_cluster.cpp --------------------------------------------------------------------------------------------------

class SplitOptions:
    min_contexts: int
    restarts: int
    iterations: int
    adaptive: bool
    discourse: int
    min_share: float
    max_cosine_two: float
    max_cosine_more: float
    share_weight: float
    seed: int

def sample_occurrences(corpus: Corpus, num_words: int, cap: int, seed: int) -> tuple[_Int64, _Int64]: ...
def context_vectors(
    context_vectors: _Floats, context_weights: _Floats, options: SelectionOptions, corpus: Corpus, places: _Int64
) -> _Floats: ...
def split_senses(
    context_vectors: _Floats,
    context_weights: _Floats,
    options: SelectionOptions,
    corpus: Corpus,
    offsets: _Int64,
    places: _Int64,
    wanted: _Int32,
    split: SplitOptions,
    workers: int,
) -> tuple[_Int32, _Floats, _Int64]: ...

# -- bind_trees.cpp ----------------------------------------------------------------------------------------------------

class EncoderOptions:
    window: int
    alpha: float
    position_alpha: float
    negative: int
    group: int
    shared: int
    block_tokens: int
    max_tokens: int
    learn_words: bool
    seed: int

class TreeOptions:
    leaves: int
    uses_a_leaf: int
    least_uses: int
    restarts: int
    iterations: int
    first_uses: int
    passes: int
    share_power: float
    seed: int
    memory: int

class _EncoderStats(TypedDict):
    targets: int
    loss: float

class _Trees(TypedDict):
    leaf_offset: _Int64
    means: _Floats
    topics: _Floats
    counts: _Int64
    joins: _Int32
    strengths: _Floats

def train_encoder(
    words: _Floats,
    outputs: _Floats,
    positions: _Floats,
    corpus: Corpus,
    weights: _Floats,
    keep: _Floats,
    counts: _Int64,
    options: EncoderOptions,
    workers: int,
    progress: Callable[[int], object] | None = None,
) -> _EncoderStats: ...

class UseSpace:
    def __init__(
        self,
        topic: _Floats,
        weights: _Floats,
        options: SelectionOptions,
        words: _Floats | None = None,
        positions: _Floats | None = None,
        transform: _Floats | None = None,
        mean: _Floats | None = None,
        order_weight: float = 0.75,
    ) -> None: ...
    @property
    def dim(self) -> int: ...
    def vectors(self, tokens: _Int32, offsets: _Int64, positions: _Int64, workers: int = 1) -> _Floats: ...
    def contexts(self, corpus: Corpus, places: _Int64) -> _Floats: ...
    def raw(self, corpus: Corpus, places: _Int64, workers: int = 1) -> tuple[_Floats, _Floats]: ...
    def select(
        self,
        selection_vectors: _Floats,
        sense_offset: _Int64,
        bias: _Floats,
        temperature: float,
        tokens: _Int32,
        offsets: _Int64,
        workers: int = 1,
        prior: _Floats = ...,
    ) -> tuple[_Int32, _Floats, _Floats]: ...

def use_moments(
    space: UseSpace, corpus: Corpus, offsets: _Int64, places: _Int64, workers: int = 1
) -> tuple[_Doubles, _Doubles, _Doubles, _Doubles]: ...
def grow_trees(
    space: UseSpace,
    corpus: Corpus,
    offsets: _Int64,
    places: _Int64,
    options: TreeOptions,
    workers: int,
    progress: Callable[[int], object] | None = None,
) -> _Trees: ...
def join_all(centroids: _Floats, counts: _Int64, share_power: float) -> tuple[_Int32, _Floats]: ...

# -- bind_answers.cpp --------------------------------------------------------------------------------------------------

class Selector:
    def __init__(
        self,
        context_vectors: _Floats,
        selection_vectors: _Floats,
        sense_offset: _Int64,
        context_weights: _Floats,
        options: SelectionOptions,
        temperature: float = 1.0,
        prior: _Floats = ...,
    ) -> None: ...
    @staticmethod
    def by_uses(
        space: UseSpace,
        selection_vectors: _Floats,
        sense_offset: _Int64,
        bias: _Floats,
        temperature: float = 1.0,
        prior: _Floats = ...,
    ) -> Selector: ...
    def scores(
        self,
        tokens: Sequence[int],
        offsets: Sequence[int],
        positions: Sequence[int],
        words: Sequence[int],
        workers: int = 1,
    ) -> _Floats: ...
    def probabilities(
        self,
        tokens: Sequence[int],
        offsets: Sequence[int],
        positions: Sequence[int],
        words: Sequence[int],
        workers: int = 1,
    ) -> _Floats: ...

def has_context(offsets: Sequence[int], positions: Sequence[int]) -> list[bool]: ...

# -- bind_search.cpp ---------------------------------------------------------------------------------------------------

def top_k(
    matrix: _Floats,
    queries: _Floats,
    k: int,
    *,
    scale: _Floats | None = None,
    mask: NDArray[np.uint8] | None = None,
    workers: int = 0,
) -> tuple[_Int64, _Floats]: ...

class Search:
    def __init__(self, matrix: _Floats, *, scale: _Floats | None = None, workers: int = 0) -> None: ...
    def top_k(
        self, queries: _Floats, k: int, *, end: int | None = None, mask: NDArray[np.uint8] | None = None
    ) -> tuple[_Int64, _Floats]: ...

# -- bind_rows.cpp -----------------------------------------------------------------------------------------------------

def read_rows(
    text: bytes | bytearray | memoryview,
    matrix: _Floats,
    start: int,
    *,
    binary: bool = False,
    keyed: bool = True,
    final: bool = True,
    first: int = 1,
    workers: int = 1,
) -> tuple[list[bytes], int, int, int]: ...
def permute_rows(matrix: _Floats, order: _Int64) -> None: ...

# -- bind_products.cpp -------------------------------------------------------------------------------------------------

def scatter(rows: _Floats, workers: int = 1) -> _Doubles: ...
def transform_rows(
    rows: _Floats, transform: _Floats, out: _Floats, mean: _Floats | None = None, workers: int = 1
) -> None: ...
def centre_rows(rows: _Floats, counts: _Int64, out: _Floats, workers: int = 1) -> None: ...
def average_rows(rows: _Floats, groups: _Int64, weights: _Int64, out: _Floats, unit: bool) -> None: ...
def symmetric_eigen(matrix: _Doubles) -> tuple[_Doubles, _Doubles]: ...
