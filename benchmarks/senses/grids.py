"""What is compared: named grids of settings, and grids of one's own in a JSON or Python file."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.human.settings import JOINT
from muse import MUSE, Settings, Split

__all__ = ["BASE", "GRIDS", "Setting", "load_grids", "select"]

BASE: dict[str, Any] = {"vector_size": 100}  # of the study, under every setting
KINDS = {  # what trains, and what else a cell may do
    "muse": ("trace", "windows", "context", "tasks", "calibration"),
    "gensim": ("windows", "tasks"),
    "mssg": ("tasks",),
    "adagram": ("tasks",),
}


@dataclass(frozen=True)
class Setting:
    """One row of the table.

    Parameters
    ----------
    label : str
        Its name in the table.
    options : dict
        Settings over the study's base, by their resolved names (those of `muse.Settings`); those of them that gensim
        knows too for ``kind="gensim"``.
    kind : str
        ``"muse"``; ``"gensim"``, Word2Vec; ``"mssg"``, see `peers`; or ``"adagram"``.
    extras : tuple of str
        ``"trace"``: the pseudo-word score after every epoch. ``"windows"``: k-means and the supervised limit on
        windows of the word vectors. ``"context"``: the same on what the selector sees. ``"tasks"``: SemEval-2013 task
        13 and WiC, too. ``"calibration"``: whether probabilities of senses mean what they say.
    seconds_of : str, optional
        For gensim: train for as long as the setting of this label took on the same text, draw and seed; it must be in
        the same grids, and runs along.
    """

    label: str
    options: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "muse"
    extras: tuple[str, ...] = ()
    seconds_of: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.label}: kind must be one of {', '.join(KINDS)}; got {self.kind!r}")
        if wrong := set(self.extras) - set(KINDS[self.kind]):
            raise ValueError(f"{self.label}: kind={self.kind!r} has no extra {', '.join(sorted(wrong))}")
        if self.seconds_of and self.kind != "gensim":
            raise ValueError(f"{self.label}: seconds_of is for kind='gensim'")
        self.settings()  # says now what is wrong with the options

    def settings(self, **runtime: Any) -> Settings:
        """The checked settings, with the study's base below them."""
        return Settings(**{**BASE, **self.options, **runtime})

    @property
    def identity(self) -> tuple[Any, ...]:
        """What is trained, whatever it is called and whatever else is measured of it."""
        return self.kind, self.settings(), self.seconds_of

    def changed(self, options: Mapping[str, Any], trace: bool = False) -> Setting:
        """The same with other options on top, which its label tells, and traced if it can be."""
        extras = dict.fromkeys((*self.extras, "trace")) if trace and self.kind == "muse" else self.extras
        mark = f" [{', '.join(f'{name}={value}' for name, value in options.items())}]" if options else ""
        return replace(
            self, label=self.label + mark, options={**self.options, **options}, extras=tuple(extras),
            seconds_of=self.seconds_of and self.seconds_of + mark,
        )  # fmt: skip


def usual(label: str = "", *, extras: tuple[str, ...] = (), **arguments: Any) -> Setting:
    """What `MUSE` makes of some arguments, by default named after them: the package's own recipe."""
    named = ", ".join(f"{name}={value}" for name, value in arguments.items())
    return Setting(label or named or "default", Settings.of(**BASE, **arguments).to_json(), extras=extras)


def muse(label: str = "", *, extras: tuple[str, ...] = (), **options: Any) -> Setting:
    """A setting of the recipe `Split`, by default named after the options that differ from its defaults."""
    usually = Settings(**BASE)
    named = ", ".join(f"{name}={value}" for name, value in options.items() if value != getattr(usually, name))
    return Setting(label or named or "split", options, extras=extras)


def _each(name: str, values: Iterable[Any], **common: Any) -> list[Setting]:
    return [muse(**common, **{name: value}) for value in values]


def _paper_values(strategy: str = "eps_greedy") -> dict[str, Any]:
    """The paper's settings by their resolved names, with the study's base."""
    return {**Settings.of(**MUSE.paper_defaults(strategy)).to_json(), **BASE}


def _strategies() -> list[Setting]:
    value: dict[str, Any] = {"selection_update": "paper"}
    return [
        *_each("strategy", ("greedy", "eps_greedy", "boltzmann")),
        *_each("strategy", ("greedy", "eps_greedy", "boltzmann", "policy", "smooth_policy"), **value),
        muse(strategy="boltzmann", temperature=0.3, **value),
        muse(strategy="eps_greedy", reward="sampled_likelihood", **value),
        muse(strategy="eps_greedy", formulation="two_sided", **value),
        muse(strategy="eps_greedy", formulation="factorized", **value),
    ]


def _initialisation() -> list[Setting]:
    return [
        muse(),
        muse(init="random", senses=3),
        muse(senses=3),
        *_each("whitening", (0.0, 0.5, 0.75, 1.0)),
        *_each("warmup_epochs", (1, 2, 3)),
        *_each("discourse", (0, 10)),
        *_each("share_weight", (0.0, 0.03, 0.05, 0.07), senses=3),
        *_each("min_contexts", (10, 20, 50)),
        *_each("initial_scale", (0.1, 0.3, 1.0)),
    ]


def _context() -> list[Setting]:
    return [
        *_each("context", ("mean", "sum")),
        *_each("context_weights", ("none", "keep", "sqrt_keep")),
        *_each("selection_window", (5, 10, 20, 40)),
        *_each("distance_power", (0.0, 0.5, 1.0, 1.5)),
        *_each("full_text", (True, False)),
        *_each("context_center", (False, True)),
        *_each("train_context_vectors", (False, True)),
    ]


def _update() -> list[Setting]:
    return [
        *_each("selection_update", ("posterior", "paper", "none")),
        *_each("posterior_weight", (0.1, 0.3, 1.0)),
        *_each("selection_alpha", (0.001, 0.01, 0.05, 0.1)),
    ]


def _sharing() -> list[Setting]:
    return [
        *_each("sibling_share", (0.0, 0.25, 0.5, 0.8)),
        *_each("collocation", ("word", "sense")),
        *_each("group_size", (1, 16, 64)),
        muse(collocation="sense", sibling_share=0.0),
    ]


def _frozen() -> list[Setting]:
    """Does joint learning earn its place? The same split with a selector that does not learn."""
    learned = [muse(), muse(senses=3), muse(senses=2)]
    return [s for mine in learned for s in (mine, muse(**mine.options, selection_update="none"))]


def _paper() -> list[Setting]:
    paper = _paper_values()
    needs = {**paper, "collocates": "all", "initial_scale": 0.1}
    return [
        Setting("paper", paper),
        Setting("paper, initial_scale=0.1", {**paper, "initial_scale": 0.1}),
        Setting("paper, all collocates", {**paper, "collocates": "all"}),
        Setting("paper, all collocates, initial_scale=0.1", needs),
        Setting(
            "paper, all collocates, initial_scale=0.1, summed rate .01",
            {**needs, "selection_reduction": "sum", "selection_alpha": 0.01},
        ),
        Setting("paper, one collocate, 20 epochs", {**paper, "initial_scale": 0.1, "epochs": 20}),
    ]


def _guards() -> list[Setting]:
    """Twenty epochs, traced, at the ends of the documented ranges: nothing may collapse or grow."""
    traced: dict[str, Any] = {"epochs": 20, "extras": ("trace",)}
    strategies = ("greedy", "eps_greedy", "boltzmann", "policy", "smooth_policy")
    return [
        muse(**traced),
        *_each("strategy", strategies[1:3], **traced),
        *_each("strategy", strategies, selection_update="paper", **traced),
        *_each("selection_alpha", (0.1, 0.25), **traced),
        muse(selection_alpha=0.25, selection_update="paper", train_context_vectors=True, context="sum", **traced),
    ]


def _peers() -> list[Setting]:
    """What a user might take instead, on the same draws."""
    return [
        usual(),  # whose wall time the next but one takes
        Setting("gensim word2vec", kind="gensim", extras=("windows",)),
        Setting("gensim word2vec, wall time of default", kind="gensim", seconds_of="default"),
        usual(senses=1, extras=("windows",)),
        Setting("MSSG-style, K=3", {"senses": 3}, kind="mssg"),
        Setting("MSSG-style, K=2", {"senses": 2}, kind="mssg"),
        Setting("AdaGram, K=3", {"senses": 3}, kind="adagram"),
    ]


def _headline() -> list[Setting]:
    return [usual(extras=("context",)), *_frozen()[1:4], *_paper()[:1], *_paper()[3:4], *_peers()]


def _trees() -> list[Setting]:
    """Sense trees, at the number of senses that the merged words have, and as evidence says; the recipe before them."""
    told: dict[str, Any] = {"extras": ("calibration",)}
    return [usual(**told), usual(senses=2, **told), usual(senses="auto", **told), usual("split", recipe=Split())]


def _joint() -> list[Setting]:
    """Does training senses that come from trees earn its time? Two senses, as merged words have."""
    trained = [usual(f"{name.removesuffix(' 3')}, senses=2", **{**given, "senses": 2}) for name, given in JOINT.items()]
    return [usual("trees, senses=2", senses=2), *trained]


def _table() -> list[Setting]:
    """Strategies and peers by all measures: the paper's recipe, its update on this package's start, and the rest."""
    strategies = ("greedy", "eps_greedy", "boltzmann", "policy")
    paper = [Setting(f"paper, {s}", _paper_values(s)) for s in strategies]
    peers = [
        Setting("gensim word2vec", kind="gensim", extras=("windows",)),
        Setting("MSSG-style, K=3", {"senses": 3}, kind="mssg"),
        Setting("AdaGram, K=3", {"senses": 3}, kind="adagram"),
    ]
    ours = [usual(extras=("context",)), usual(senses=1), *_each("strategy", strategies, selection_update="paper")]
    return [replace(s, extras=(*s.extras, "tasks")) for s in (*ours, *peers, *paper)]


GRIDS: dict[str, Callable[[], list[Setting]]] = {
    "default": lambda: [usual()],
    "headline": _headline,
    "frozen": _frozen,
    "strategies": _strategies,
    "initialisation": _initialisation,
    "context": _context,
    "senses": lambda: [usual(), *(usual(senses=senses) for senses in ("auto", 1, 2, 3, 5))],
    "trees": _trees,
    "joint": _joint,
    "epochs": lambda: [usual(epochs=epochs) for epochs in (2, 5, 10, 20)],
    "trace": lambda: [muse(epochs=20, extras=("trace",)), muse(epochs=20, senses=3, extras=("trace",))],
    "update": _update,
    "sharing": _sharing,
    "groups": lambda: _each("group_size", (1, 4, 8, 16, 32)),
    "collocates": lambda: [*_each("collocates", ("all", "one")), muse(collocates="one", epochs=25)],
    "guards": _guards,
    "paper": _paper,
    "peers": _peers,
    "table": _table,
}


def load_grids(names: Sequence[str]) -> list[Setting]:
    """The settings of grids by name, or of a file; each label once.

    A file is a list of settings: JSON objects with the fields of `Setting`, of which only ``options`` is required, or
    a Python file that names such a list (or one of `Setting`) ``GRID``.
    """
    found: dict[str, Setting] = {}
    for name in names:
        for setting in GRIDS[name]() if name in GRIDS else _from_file(name):
            first = found.setdefault(setting.label, setting)
            if first.identity != setting.identity:
                raise ValueError(f"two different settings are called {setting.label!r}")
            found[setting.label] = replace(first, extras=tuple(dict.fromkeys((*first.extras, *setting.extras))))
    return list(found.values())


def select(settings: Sequence[Setting], parts: Sequence[str]) -> list[Setting]:
    """The settings whose label holds one of the parts (all, if there are none), and those whose time they take.

    Raises
    ------
    ValueError
        If none is left, or one takes the time of a setting that is not there.
    """
    wanted = {s.label for s in settings if not parts or any(part in s.label for part in parts)}
    if not wanted:
        raise ValueError("no setting is left")
    labels = {s.label for s in settings}
    for setting in settings:
        if setting.label not in wanted or not setting.seconds_of:
            continue
        if setting.seconds_of not in labels:
            raise ValueError(
                f"{setting.label!r} is to take as long as {setting.seconds_of!r}, which is in none of these grids; "
                "add the grid that has it"
            )
        wanted.add(setting.seconds_of)
    return [s for s in settings if s.label in wanted]


def _from_file(name: str) -> list[Setting]:
    path = Path(name)
    if path.suffix not in (".json", ".py") or not path.is_file():
        raise ValueError(f"{name!r} is neither a grid ({', '.join(GRIDS)}) nor a .json or .py file that is there")
    rows = runpy.run_path(name)["GRID"] if path.suffix == ".py" else json.loads(path.read_text(encoding="utf-8"))
    return [row if isinstance(row, Setting) else _setting(row) for row in rows]


def _setting(row: Mapping[str, Any]) -> Setting:
    label = row.get("label") or muse(**row["options"]).label
    return Setting(**{**row, "label": label, "extras": tuple(row.get("extras", ()))})
