"""The table of settings, and what is made from it: signature, help, docs page, options of the core, stub, recipes."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import warnings
from pathlib import Path

import pytest

import muse
from muse import MUSE, Context, Engine, FormatWarning, Paper, Settings, Split, Trees, _core
from muse.data.describing import markdown
from muse.data.names import REMOVED
from muse.data.recipes import CONTEXT_NAMES, RECIPES, Recipe, SenseEpochs
from muse.data.settings import constructor_settings
from muse.data.table import declared
from muse.training.options import core_options

ROOT = Path(__file__).resolve().parents[2]
STUB = Path(muse.__file__).with_name("_core.pyi")


# -- the signature -----------------------------------------------------------------------------------------------------


def test_the_signature_is_the_table():
    written = inspect.signature(MUSE).parameters
    table = constructor_settings()
    assert list(written) == ["sentences", "corpus_file", *table, "recipe", "unknown"]
    assert written["recipe"].default is None
    for name, item in table.items():
        parameter = written[name]
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        by_recipe = item.metadata["by_recipe"]
        assert parameter.default == (None if by_recipe else item.default), name
        if name != "min_alpha":  # a word stands for a constant rate
            optional = by_recipe and not item.type.endswith("| None")
            assert parameter.annotation == item.type + (" | None" if optional else ""), name
    assert written["unknown"].annotation == "Never"  # so that a type checker refuses what the table lacks


def test_the_help_and_the_page_hold_every_setting():
    for name in (*constructor_settings(), "recipe"):
        assert f"\n{name} : " in MUSE.__doc__
    page = markdown()
    for owner in (*RECIPES, Context, Engine):
        for name in declared(owner):
            assert f"| `{name}` |" in page
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == page


def test_what_the_recipe_decides():
    for kind in RECIPES:
        decided = {name for name, item in constructor_settings().items() if item.metadata["by_recipe"]}
        assert set(kind.USUAL) == decided
    assert MUSE(recipe=Split()).settings == Settings(senses="auto")
    usual = MUSE().settings
    assert (usual.init, usual.senses, usual.strategy, usual.selection_update) == ("trees", 4, "greedy", "none")
    paper = MUSE(recipe=Paper()).settings
    assert (paper.senses, paper.strategy, paper.negative, paper.min_alpha) == (3, "eps_greedy", 25, None)
    given = MUSE(recipe=Paper(), senses=2, strategy="boltzmann", negative=5, min_alpha=0.001).settings
    assert (given.senses, given.strategy, given.negative, given.min_alpha) == (2, "boltzmann", 5, 0.001)
    assert MUSE(min_alpha="constant").settings.min_alpha is None
    assert MUSE(senses=3, strategy="eps_greedy").settings == Settings(senses=3, strategy="eps_greedy")


# -- recipes -----------------------------------------------------------------------------------------------------------


def test_the_default_recipe_is_the_default_of_every_setting():
    for owner in (Trees, Split, Context, Engine):
        for name, item in declared(owner).items():
            table = declared(Settings)[CONTEXT_NAMES[name] if owner is Context else name]
            assert table.default == item.default
            assert table.metadata["doc"] == item.metadata["doc"]


def test_every_setting_has_one_home():
    homes = Settings.homes()
    assert set(homes) == set(declared(Settings))
    classes = {kind.__name__: kind for kind in (Recipe, SenseEpochs, *RECIPES, Context, Engine)}
    found = set()
    for name, home in homes.items():
        if home is not None and name != "init":
            assert home.name in declared(classes[home.owner])
            found.add((home.owner, home.name))
    assert len(found) == sum(home is not None for home in homes.values()) - 1
    own = {(owner.__name__, name) for owner in (Context, Engine) for name in declared(owner)}
    assert own <= found
    for kind in RECIPES:
        for name in set(declared(kind)) - set(declared(SenseEpochs)) - {"strategy", "whitening"}:
            assert (kind.__name__, name) in found
    assert ("Split", "whitening") in found  # which Trees have, too


RECIPES_TRIED = [
    Trees(),
    Trees(leaves=8, order_window=10, shrinkage=0.75, engine=Engine(group_size=1)),
    Split(),
    Split(whitening=0.5, context=Context(window=10, combine="sum"), engine=Engine(group_size=1, batch_tokens=64)),
    Split(selection_update="paper", formulation="two_sided", share_weight=0.0),
    Split(start="trees", warmup_epochs=4),
    Paper(start="trees"),
    Paper(),
    Paper(strategy="boltzmann", selection_size=5, engine=Engine(device_storage="bfloat16")),
    Paper(selection_update="posterior", collocation="word", sibling_share=0.5),
]


@pytest.mark.parametrize("recipe", RECIPES_TRIED, ids=repr)
def test_settings_give_back_what_made_them(recipe):
    settings = Settings.of(recipe=recipe, senses=2, vector_size=30, epochs=2, seed=5)
    assert type(settings.recipe) is type(recipe)
    assert Settings.of(**settings.arguments()) == settings
    assert MUSE(**settings.arguments()).settings == settings
    assert Settings.of(**settings.arguments()).left_open == settings.left_open
    again = Settings.from_json(settings.to_json(), settings.left_open, device_storage=settings.device_storage)
    assert again == settings
    assert again.recipe == settings.recipe


def test_recipes_never_change():
    for part in (Trees(), Split(), Paper(), Context(), Engine()):
        with pytest.raises(dataclasses.FrozenInstanceError):
            part.window = 3
    assert {Split(), Split(whitening=0.5), Split()} == {Split(), Split(whitening=0.5)}


def test_the_paper_is_pinned_in_full():
    settings = MUSE(**MUSE.paper_defaults()).settings
    assert settings == MUSE(recipe=Paper()).settings
    assert settings.left_open == ()  # no default may change what it means
    expected = {
        "senses": 3, "strategy": "eps_greedy", "epsilon": 0.05, "vector_size": 300, "selection_size": None, "window": 5,
        "negative": 25, "ns_exponent": 0.75, "sample": 1e-4, "alpha": 0.025, "min_alpha": None,
        "selection_alpha": 0.025, "batch_tokens": 2048, "init": "random", "initial_scale": 1.0,
        "formulation": "one_sided", "reward": "likelihood", "collocates": "one", "collocation": "sense",
        "temperature": 1.0, "context": "sum", "context_weights": "none", "distance_power": 0.0, "context_center": True,
        "full_text": False, "selection_update": "paper", "train_context_vectors": True, "sibling_share": 0.0,
        "max_norm": 0.0, "group_size": 1, "shrink_windows": True, "selection_window": None,
        "selection_reduction": "mean", "warmup_epochs": 3, "whitening": 0.0, "min_contexts": 20, "discourse": 0,
        "share_weight": 0.0, "posterior_weight": 0.0,
    }  # fmt: skip
    of_the_run = {"epochs", "seed", "min_count", "max_vocab_size", "max_final_vocab", "sorted_vocab"}
    assert {name: value for name, value in settings.to_json().items() if name not in of_the_run} == expected
    assert MUSE(**MUSE.paper_defaults("policy")).settings.reward == "sampled_likelihood"
    assert MUSE(**MUSE.paper_defaults("smooth_policy")).settings.reward == "likelihood"
    assert MUSE(**(MUSE.paper_defaults() | {"strategy": "boltzmann"})).settings.strategy == "boltzmann"
    stored = {name for name, item in constructor_settings().items() if not item.metadata["runtime"]}
    assert {*MUSE.paper_defaults(), *of_the_run} == stored | {"recipe"}


def test_what_is_left_open_is_chosen_to_fit():
    def values(**given):
        settings = Settings.of(**given)
        return settings.selection_update, settings.collocation, settings.context_center, settings.share_weight

    assert values() == ("none", "word", False, 0.0)
    assert values(recipe=Split()) == ("posterior", "word", False, 0.05)
    assert values(strategy="policy") == ("paper", "word", True, 0.0)
    assert values(recipe=Split(formulation="two_sided")) == ("paper", "sense", True, 0.0)
    assert values(recipe=Split(collocation="sense")) == ("posterior", "sense", False, 0.05)
    settings = Settings.of(senses=2, recipe=Split())
    assert settings.left_open == (
        "selection_update", "collocation", "selection_alpha", "context_center", "share_weight"
    )  # fmt: skip
    assert settings.replace(formulation="two_sided").collocation == "sense"
    assert settings.replace(formulation="two_sided").replace(formulation="one_sided") == settings


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: Split(warmup_epochs=0), ValueError, "warmup_epochs must be from 1 to 1000000; got 0"),
        (lambda: Context(window=0), ValueError, "context.window must be from 1 to 10000; got 0"),
        (lambda: Engine(group_size=1.5), TypeError, "engine.group_size must be an integer from 1 to 1024; got 1.5"),
        (lambda: Split(context=5), TypeError, r"context must be a muse.Context, such as Context\(\); got 5"),
        (lambda: Paper(engine=Context()), TypeError, r"engine must be a muse.Engine, such as Engine\(\)"),
        (lambda: Split(start="tree"), ValueError, "start must be .*'trees'.*; got 'tree'"),
        (lambda: MUSE(recipe=Paper(start="trees", selection_size=5)), ValueError, "and start='trees', take"),
        (lambda: Paper(strategy="best"), ValueError, "strategy must be one of 'greedy'"),
        (lambda: Split(strategy="greedy"), TypeError, "strategy"),
        (Recipe, TypeError, r"give muse.Trees\(...\) or muse.Split\(...\) or muse.Paper\(...\)"),
        (lambda: MUSE(strategy="policy", recipe=Trees()), ValueError, "is for recipes that train senses"),
        (lambda: Trees(context=Context()), TypeError, "context"),
        (lambda: MUSE(recipe="paper"), TypeError, "recipe must be .*; got 'paper'"),
        (lambda: MUSE(recipe=Paper), TypeError, "recipe must be"),
        (lambda: MUSE(strategy="greedy", recipe=Paper(strategy="boltzmann")), ValueError, "give one of them"),
        (lambda: MUSE(senses="auto", recipe=Paper()), ValueError, "senses='auto' needs the recipe Trees or Split"),
    ],
)  # fmt: skip
def test_recipes_that_cannot_be(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


# -- names of before ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "now"),
    [
        ({"init": "random"}, "init='random' is now MUSE(recipe=Paper(...))"),
        ({"init": "split"}, "init='split' is now MUSE(recipe=Split(...))"),
        ({"whitening": 0.5}, "it is now MUSE(recipe=Split(whitening=0.5))"),
        ({"selection_size": 30}, "it is now MUSE(recipe=Paper(selection_size=30))"),
        ({"context": "sum"}, "it is now MUSE(recipe=Split(context=Context(combine='sum')))"),
        ({"context_center": True}, "it is now MUSE(recipe=Split(context=Context(centre=True)))"),
        ({"group_size": 1}, "it is now MUSE(recipe=Split(engine=Engine(group_size=1)))"),
        ({"cross_sentences": True}, "it was removed, leave it out (contexts end with their sentence"),
        ({"whitning": 0.5}, "did you mean whitening of muse.Split?"),
    ],
)
def test_flat_names_say_where_they_went(old, now):
    with pytest.raises(TypeError) as caught:
        MUSE(**old)
    assert str(caught.value).startswith(f"{next(iter(old))!r} is not a setting of MUSE: {now}")


def test_no_setting_of_a_recipe_has_a_second_place():
    for name, home in Settings.homes().items():
        if home is not None and home.owner != "Trees":
            with pytest.raises(TypeError, match="is now MUSE"):
                MUSE(**{name: Settings().to_json().get(name)})


def test_the_changelog_has_every_old_name():
    unreleased = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## [")[1]
    for name in [
        *(n for n, home in Settings.homes().items() if home and home.owner != "Trees" and n != "start"),
        *REMOVED,
    ]:
        assert f"| `{name}" in unreleased, name


@pytest.mark.parametrize(
    ("name", "worked"), [("posterior_selects", True), ("cross_sentences", True), ("group_negatives", 9)]
)
def test_files_with_removed_settings_load(name, worked):
    stored = Settings.of(senses=2).to_json()
    usual, _ = REMOVED[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Settings.from_json({**stored, name: usual}) == Settings.of(senses=2)
    with pytest.warns(FormatWarning, match=f"the model was trained with {name}, which was removed: "):
        assert Settings.from_json({**stored, name: worked}) == Settings.of(senses=2)


# -- the core ----------------------------------------------------------------------------------------------------------

DERIVED = {"selection", "shrink_selection", "selection_mean", "min_alpha", "epochs"}  # see core_options


def test_the_table_names_every_option_of_the_core():
    named = [item.metadata["core"] for item in declared(Settings).values() if item.metadata["core"]]
    assert len(named) == len(set(named))
    options = {name for name in vars(_core.Options) if not name.startswith("_") and name != "shared_negatives"}
    assert {*named, *DERIVED} == options
    assert set(named).isdisjoint(DERIVED)


def test_options_of_the_core_have_the_values_of_the_settings():
    settings = Settings.of(
        strategy="boltzmann", window=7, negative=9, alpha=0.5, seed=11,
        recipe=Split(reward="sampled_likelihood", temperature=0.5, context=Context(window=None, combine="sum"),
                     engine=Engine(batch_tokens=99, group_size=3)),
    )  # fmt: skip
    options = core_options(settings, 4)
    assert (options.strategy, options.reward) == (_core.Strategy.boltzmann, _core.Reward.sampled_likelihood)
    assert options.selection_update is _core.SelectionUpdate.posterior
    assert (options.window, options.negative, options.seed, options.epochs) == (7, 9, 11, 4)
    assert (options.batch_tokens, options.group_size, options.temperature) == (99, 3, 0.5)
    assert (options.shrink_selection, options.selection.window, options.selection.mean) == (True, 7, False)
    words = core_options(settings, 4, words=True)
    assert words.selection_update is _core.SelectionUpdate.none


def test_the_stub_has_the_options_and_values_of_the_table():
    classes = {node.name: node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ClassDef)}
    stub = {
        line.target.id: ast.unparse(line.annotation)
        for line in classes["Options"].body
        if isinstance(line, ast.AnnAssign)
    }
    types = {"int": int, "float": float, "bool": bool}
    for name, item in declared(Settings).items():
        if option := item.metadata["core"]:
            if enum := item.metadata["enum"]:
                assert stub[option] == enum
                members = {line.targets[0].id for line in classes[enum].body if isinstance(line, ast.Assign)}
                assert members == set(item.metadata["check"].allowed) == set(getattr(_core, enum).__members__)
            else:
                assert isinstance(getattr(Settings(), name), types[stub[option]]), name
    assert set(stub) == {item.metadata["core"] for item in declared(Settings).values()} - {""} | DERIVED
