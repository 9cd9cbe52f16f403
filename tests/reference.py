"""The trainer in plain, slow float64 numpy: one batch, straight from the paper's equations.

Nothing here is shared with the C++ core. There are no halos, panels or sliding sums: all kept tokens of an epoch lie in
one list, a pair of collocates is one loop iteration, and a gradient is an array as large as its matrix. What is
replicated exactly is how random numbers are made, so that both take the same decisions, and the order of events: senses
by P and Q as they stand at the start of a batch; U and V move group by group of targets; then one step of P and Q for
the whole batch.

Symbols: V words, Z senses in all, S selection size, D vector size. The senses of word w are the rows
``offset[w] : offset[w + 1]``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from reference_draws import Draws, alias_table, keep_probabilities

STEADY_SCORE = 32.0  # of U and V: beyond it a group of targets takes smaller steps
SUBSAMPLE, WINDOW, SENSE, EXPLORE, COLLOCATE, NEGATIVE, NEGATIVE_SENSE = range(1, 8)


@dataclass(frozen=True)
class Config:
    """The options of src/cpp/model/options.h under the same names, and what else the trainer is given."""

    strategy: str = "eps_greedy"
    formulation: str = "one_sided"
    reward: str = "likelihood"
    collocates: str = "one"
    selection_update: str = "paper"
    window: int = 3
    shrink_windows: bool = True
    shrink_selection: bool = True
    negative: int = 3
    group_size: int = 1
    alpha: float = 0.1
    selection_alpha: float = 1.0
    selection_mean: bool = True
    epsilon: float = 0.25
    temperature: float = 1.0
    batch_tokens: int = 64
    posterior_weight: float = 1.0
    train_context_vectors: bool = True
    sibling_share: float = 0.0
    max_norm: float = 0.0
    seed: int = 1
    # SelectionOptions
    selection_window: int = 3
    mean: bool = False
    full_text: bool = False
    distance: tuple[float, ...] = ()
    # arguments of Trainer
    sample: float = 0.02
    ns_exponent: float = 0.75
    context_weights: tuple[float, ...] = ()  # (V,) or empty


@dataclass
class Parameters:
    """float64 copies of a model's arrays."""

    P: np.ndarray  # (V, S)
    Q: np.ndarray  # (Z, S)
    U: np.ndarray  # (Z, D)
    V: np.ndarray  # (Z, D), or (V, D) with one collocation vector a word
    offset: np.ndarray  # (V + 1,)
    F: np.ndarray  # (V, S) forward state values
    B: np.ndarray  # (V, S) backward state values

    def senses(self, word: int) -> int:
        return int(self.offset[word + 1] - self.offset[word])

    @property
    def words_collocate(self) -> bool:
        return len(self.V) == len(self.P)

    def collocation_row(self, word: int, sense: int) -> int:
        return word if self.words_collocate else int(self.offset[word]) + sense


# --- decisions that do not depend on the model ------------------------------------------------------------------------
class Epoch:
    """All kept tokens of one pass over the corpus; a "position" is a place in this list."""

    def __init__(self, config: Config, tokens: np.ndarray, offsets: np.ndarray, counts: np.ndarray, epoch: int) -> None:
        self.config, self.tokens, self.counts = config, tokens, counts
        self.draws = {purpose: Draws(config.seed, epoch, purpose) for purpose in range(1, 8)}
        keep = keep_probabilities(counts, config.sample)
        uniform = self.draws[SUBSAMPLE].uniform
        self.sentence_of_token = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        self.kept = [t for t, word in enumerate(tokens) if keep[word] >= 1 or uniform(t) < keep[word]]
        self.word = [int(tokens[t]) for t in self.kept]
        self.sentence = [int(self.sentence_of_token[t]) for t in self.kept]
        below = self.draws[WINDOW].below
        self.window = [1 + below(config.window, t) if config.shrink_windows else config.window for t in self.kept]
        self.alias = alias_table(counts, config.ns_exponent)

    def window_of(self, position: int) -> list[int]:
        """Positions of the possible collocates: within the drawn window, in the same sentence, not the word itself."""
        low, high = max(0, position - self.window[position]), position + self.window[position]
        near = range(low, min(high + 1, len(self.kept)))
        return [j for j in near if j != position and self.sentence[j] == self.sentence[position]]

    def context(self, position: int) -> list[tuple[int, float]]:
        """Words of the selection context, the word itself included, and the weight of each."""
        config = self.config
        reach = self.window[position] if config.shrink_selection else config.selection_window
        if config.full_text:  # every token of the corpus counts, kept or not
            stream, sentence, centre = self.tokens, self.sentence_of_token, self.kept[position]
        else:
            stream, sentence, centre = self.word, self.sentence, position
        members = []
        for j in range(max(0, centre - reach), min(centre + reach + 1, len(stream))):
            if sentence[j] != sentence[centre]:
                continue
            weight = config.context_weights[stream[j]] if config.context_weights else 1.0
            weight *= config.distance[abs(j - centre)] if config.distance else 1.0
            members.append((int(stream[j]), float(weight)))
        total = sum(weight for _, weight in members)
        if not config.mean:
            return members
        return [(word, weight / total) for word, weight in members] if total > 0 else []

    def negative(self, key: int, index: int) -> int:
        """Word of a negative, from counts to the power of ns_exponent."""
        bits = self.draws[NEGATIVE].bits(key, index)
        column = (bits >> 32) * len(self.alias) >> 32
        threshold, alias = self.alias[column]
        return column if bits & (2**32 - 1) < threshold else alias


# --- selection (sections 3.1.1 and 3.3) -------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def log_sigmoid(x):
    return -np.logaddexp(0, -x)


def softmax(s: np.ndarray) -> np.ndarray:
    e = np.exp(s - s.max())
    return e / e.sum()


def choose(config: Config, s: np.ndarray, explore: float, u: float) -> int:
    """The sense that a strategy takes for scores s (K,)."""
    if config.strategy == "eps_greedy" and explore < np.float32(config.epsilon):
        return int(u * len(s))
    if config.strategy in ("greedy", "eps_greedy"):
        best = np.flatnonzero(s == s.max())
        return int(best[int(u * len(best))])
    cumulative = np.cumsum(softmax(s / config.temperature))
    return int(min(np.searchsorted(cumulative, u, side="right"), len(s) - 1))


@dataclass
class Selection:
    """What the selector made of one position."""

    context: list[tuple[int, float]]
    c: np.ndarray  # (S,) the context sum
    s: np.ndarray  # (K,) scores; q = sigmoid(s) is eq. 2, pi = softmax(s) is eq. 1
    sense: int
    forward: float = 0.0  # state values that the factorised formulation adds to the score
    backward: float = 0.0


def select(epoch: Epoch, model: Parameters, position: int) -> Selection:
    word, token = epoch.word[position], epoch.kept[position]
    context = epoch.context(position)
    c = sum((weight * model.P[w] for w, weight in context), np.zeros(model.P.shape[1]))
    s = model.Q[model.offset[word] : model.offset[word + 1]] @ c
    sense = 0
    if len(s) > 1:
        sense = choose(epoch.config, s, epoch.draws[EXPLORE].uniform(token), epoch.draws[SENSE].uniform(token))
    return Selection(context, c, s, sense, model.F[word] @ c, model.B[word] @ c)


# --- one batch --------------------------------------------------------------------------------------------------------


@dataclass
class Pair:
    """A target and one collocate, with the rows that they train."""

    target: int  # positions
    collocate: int
    u: int  # row of U
    v: int  # row of V
    negatives: list[tuple[int, float]]  # rows of V and how many negatives of this pair each stands for
    share: float  # 1 / pairs of this target
    reward: float = 0.0


@dataclass
class Result:
    """Decisions and statistics of a batch; the model given to `run_batch` has moved."""

    kept: list[int]  # tokens that survived subsampling
    selections: dict[int, Selection] = field(default_factory=dict)  # of all positions that took part
    pairs: list[Pair] = field(default_factory=list)
    groups: list[list[Pair]] = field(default_factory=list)
    sense_use: np.ndarray | None = None  # (Z,)
    targets: int = 0
    reward: float = 0.0
    loss: float = 0.0
    loss_pairs: int = 0
    entropy: float = 0.0
    entropy_targets: int = 0
    gradient: dict[int, np.ndarray] = field(default_factory=dict)  # d loss / d s_k of positions, (K,)
    state_gradient: dict[int, list[float]] = field(default_factory=dict)  # d loss / d forward, backward


def pair_loss(U: np.ndarray, V: np.ndarray, pair: Pair) -> float:
    """-log of the sampled likelihood (eq. 4) of a pair."""
    loss = -log_sigmoid(U[pair.u] @ V[pair.v])
    return loss - sum(times * log_sigmoid(-U[pair.u] @ V[row]) for row, times in pair.negatives)


def run_batch(epoch: Epoch, model: Parameters, begin: int, end: int, alpha: float, selection_alpha: float) -> Result:
    """Tokens [begin, end) are the targets; moves the model."""
    config = epoch.config
    own = [i for i, token in enumerate(epoch.kept) if begin <= token < end]
    result = Result(kept=[epoch.kept[i] for i in own], sense_use=np.zeros(len(model.U), np.int64))

    needed = {j for i in own for j in [i, *epoch.window_of(i)]}
    result.selections = {i: select(epoch, model, i) for i in needed}
    for i in own:
        pi = softmax(result.selections[i].s)
        if len(pi) > 1 and epoch.kept[i] % 8 == 0:
            result.entropy -= float(pi @ np.log(pi))
            result.entropy_targets += 1

    for first in range(0, len(own), config.group_size):
        represent_group(epoch, model, own[first : first + config.group_size], alpha, result)
    if config.selection_update != "none" and len(model.Q) > len(model.P):
        step_selection(epoch, model, selection_alpha, result)
    return result


def represent_group(epoch: Epoch, model: Parameters, group: list[int], alpha: float, result: Result) -> None:
    """One step of U and V on the summed loss of the group's pairs (eq. 4), and the rewards of those pairs."""
    config, selections = epoch.config, result.selections
    collocates = {i: choose_collocates(epoch, i) for i in group}
    collocates = {i: chosen for i, chosen in collocates.items() if chosen}
    if not collocates:
        return
    v_rows = {j: model.collocation_row(epoch.word[j], selections[j].sense) for js in collocates.values() for j in js}
    for i, chosen in collocates.items():
        if config.selection_update == "posterior" and model.senses(epoch.word[i]) > 1:
            learn_posterior(epoch, model, i, sum(model.V[v_rows[j]] for j in chosen), result)
    pairs = make_pairs(epoch, model, collocates, v_rows, result)

    scores = [model.U[p.u] @ model.V[row] for p in pairs for row in [p.v, *(row for row, _ in p.negatives)]]
    if max(map(abs, scores)) > STEADY_SCORE:  # the group's step overshoots: take the mean over its targets
        alpha /= len(collocates)
    dU, dV = np.zeros_like(model.U), np.zeros_like(model.V)  # gradients of the loss
    for pair in pairs:
        u = model.U[pair.u]
        du = np.zeros_like(u)
        for row, label, times in [(pair.v, 1.0, 1.0), *((row, 0.0, times) for row, times in pair.negatives)]:
            error = times * (sigmoid(u @ model.V[row]) - label)
            du += error * model.V[row]
            dV[row] += error * u
        dU[pair.u] += du
        word = epoch.word[pair.target]
        for z in range(model.offset[word], model.offset[word + 1]):
            dU[z] += (z != pair.u) * config.sibling_share * du
        pair.reward = reward_of(config, model, pair)
        result.reward += pair.reward
    if epoch.kept[group[0]] % 16 == 0:
        result.loss += sum(pair_loss(model.U, model.V, pair) for pair in pairs)
        result.loss_pairs += len(pairs)
    model.U -= alpha * dU
    model.V -= alpha * dV
    for i in collocates:
        result.sense_use[model.offset[epoch.word[i]] + selections[i].sense] += 1
    result.targets += len(collocates)
    result.pairs += pairs
    result.groups.append(pairs)


def choose_collocates(epoch: Epoch, i: int) -> list[int]:
    window = epoch.window_of(i)
    if epoch.config.collocates == "one" and window:
        return [window[epoch.draws[COLLOCATE].below(len(window), epoch.kept[i])]]
    return window


def make_pairs(
    epoch: Epoch, model: Parameters, collocates: dict[int, list[int]], v_rows: dict[int, int], result: Result
) -> list[Pair]:
    """All pairs of a group with their negatives: a pair's own, or those that the group shares."""
    config = epoch.config
    key = epoch.kept[next(iter(collocates))]

    def negative_row(index: int) -> int:
        word = epoch.negative(key, index)
        count = 1 if model.words_collocate else model.senses(word)
        return model.collocation_row(word, epoch.draws[NEGATIVE_SENSE].below(count, key, index))

    pairs: list[Pair] = []
    shared = []
    if config.group_size > 1 and config.negative > 0:
        count = math.ceil(config.group_size * max(5, config.negative) / 5)
        if config.collocates == "one":
            count = max(config.group_size, config.negative)
        shared = [negative_row(n) for n in range(count)]
    for i, chosen in collocates.items():
        u = int(model.offset[epoch.word[i]]) + result.selections[i].sense
        for j in chosen:
            if config.group_size > 1:  # each of them stands for negative / len(shared) of the pair's
                negatives = [(row, config.negative / len(shared)) for row in shared]
            else:
                mine = range(len(pairs) * config.negative, (len(pairs) + 1) * config.negative)
                rows = [negative_row(n) for n in mine]
                negatives = [(row, 1.0) for row in rows if row != v_rows[j]]
            pairs.append(Pair(i, j, u, v_rows[j], negatives, 1 / len(chosen)))
    return pairs


def reward_of(config: Config, model: Parameters, pair: Pair) -> float:
    """The likelihood without negatives (eq. 6), or the sampled likelihood (eq. 4)."""
    selects = len(model.Q) > len(model.P) and config.selection_update == "paper"
    if config.reward == "sampled_likelihood" and selects:
        return float(np.exp(-pair_loss(model.U, model.V, pair)))
    return float(sigmoid(model.U[pair.u] @ model.V[pair.v]))


# --- learning to select (section 3.2) ---------------------------------------------------------------------------------


def learn_posterior(epoch: Epoch, model: Parameters, i: int, v_sum: np.ndarray, result: Result) -> None:
    """Extension: pi learns the posterior softmax(s + log-likelihood ratio of the window) by cross-entropy."""
    config, selection = epoch.config, result.selections[i]
    word = epoch.word[i]
    evidence = config.posterior_weight * model.U[model.offset[word] : model.offset[word + 1]] @ v_sum
    result.gradient[i] = softmax(selection.s) - softmax(selection.s + evidence)


def selection_loss(config: Config, selection: Selection, state: float, reward: float) -> float:
    """Loss of one selected sense: cross-entropy with the reward (eq. 9), or minus reward * log pi (appendix A)."""
    if config.strategy in ("policy", "smooth_policy"):
        reward = math.log(max(reward, 1e-30)) if config.strategy == "policy" else reward
        return -reward * math.log(softmax(selection.s / config.temperature)[selection.sense])
    s = selection.s[selection.sense] + state
    return -(reward * log_sigmoid(s) + (1 - reward) * log_sigmoid(-s))


def paper_gradients(epoch: Epoch, model: Parameters, result: Result) -> None:
    """Gradients of `selection_loss` of all pairs; pairs of a target share its weight, and the two sides share that."""
    config = epoch.config
    factorized = config.formulation == "factorized"
    for pair in result.pairs:
        sides = [(pair.target, 0)] if config.formulation == "one_sided" else [(pair.target, 0), (pair.collocate, 1)]
        for position, side in sides:
            selection = result.selections[position]
            count = len(selection.s)
            if count == 1:
                continue
            weight = pair.share / len(sides)
            chosen = np.arange(count) == selection.sense
            gradient = result.gradient.setdefault(position, np.zeros(count))
            if config.strategy in ("policy", "smooth_policy"):
                reward = math.log(max(pair.reward, 1e-30)) if config.strategy == "policy" else pair.reward
                pi = softmax(selection.s / config.temperature)
                gradient -= weight * reward * (chosen - pi) / config.temperature
                continue
            state = (selection.forward, selection.backward)[side] if factorized else 0.0
            g = weight * (sigmoid(selection.s[selection.sense] + state) - pair.reward)
            gradient += g * chosen
            result.state_gradient.setdefault(position, [0.0, 0.0])[side] += g * factorized


def step_selection(epoch: Epoch, model: Parameters, rate: float, result: Result) -> None:
    """One step of P and Q (and the state values) on the mean or summed loss of the batch's targets."""
    config = epoch.config
    if config.selection_update == "paper":
        paper_gradients(epoch, model, result)
    if config.selection_mean:
        rate /= max(result.targets, 1)
    moved = sorted(i for i, g in result.gradient.items() if np.any(g != 0))
    state = {i: result.state_gradient.get(i, [0.0, 0.0]) for i in moved}
    rows = {i: slice(model.offset[epoch.word[i]], model.offset[epoch.word[i] + 1]) for i in moved}
    into_context = {  # d loss / d c, all of them before anything moves
        i: result.gradient[i] @ model.Q[rows[i]]
        + state[i][0] * model.F[epoch.word[i]]
        + state[i][1] * model.B[epoch.word[i]]
        for i in moved
    }

    def cap(row: np.ndarray) -> None:
        length = np.linalg.norm(row)
        if config.max_norm > 0 and length > config.max_norm:
            row *= config.max_norm / length

    for i in moved:
        word, selection = epoch.word[i], result.selections[i]
        model.Q[rows[i]] -= rate * np.outer(result.gradient[i], selection.c)
        if config.formulation == "factorized":
            model.F[word] -= rate * state[i][0] * selection.c
            model.B[word] -= rate * state[i][1] * selection.c
        for w, weight in selection.context if config.train_context_vectors else []:
            model.P[w] -= rate * weight * into_context[i]
    for i in moved:  # once the step is whole
        word = epoch.word[i]
        own = [*model.Q[rows[i]], *([model.F[word], model.B[word]] if config.formulation == "factorized" else [])]
        others = [model.P[w] for w, _ in result.selections[i].context] if config.train_context_vectors else []
        for row in own + others:
            cap(row)
