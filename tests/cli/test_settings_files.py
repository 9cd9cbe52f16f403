"""Settings from a TOML file, with the names of the table of settings."""

from __future__ import annotations

import json
import tomllib

import pytest
from command_lines import run

from muse import MUSE
from muse.cli.settings import option_names
from muse.data.settings import constructor_settings

QUICK = "chapters --save m --workers 1"


def trained(folder, text, line=QUICK):
    (folder / "s.toml").write_text(text)
    done = run(f"muse train {line} --config s.toml", folder)
    return done, MUSE.load(folder / "m").settings if done.status == 0 else None


def test_a_file_sets_and_the_command_line_wins(workspace):
    text = 'vector_size = 9\nepochs = 2\nsenses = {bank = 3}\n[recipe]\nname = "split"\nwhitening = 0.5\n'
    text += "context = {window = 7}\nengine = {group_size = 4}\n"
    done, settings = trained(workspace, text, f"{QUICK} --epochs 1")
    assert done.status == 0, done.err
    assert (settings.vector_size, settings.epochs, settings.senses) == (9, 1, {"bank": 3})
    assert (settings.init, settings.whitening, settings.selection_window, settings.group_size) == ("split", 0.5, 7, 4)


def test_options_of_commands_have_tables(workspace):
    (workspace / "s.toml").write_text('vector_size = 8\n[tag]\nmargin = 0.9\n[train]\nepochs = 1\nsave = "m"\n')
    assert run("muse tag model.safetensors text.txt sure --config s.toml", workspace).status == 0
    assert run("muse tag model.safetensors text.txt all --config s.toml --margin 0", workspace).status == 0
    assert (workspace / "sure").read_text().count("#") < (workspace / "all").read_text().count("#")
    done = run("muse train chapters --workers 1 --config s.toml", workspace)
    assert done.status == 0, done.err
    assert MUSE.load(workspace / "m").settings.epochs == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vectorsize = 9", "did you mean vector_size?"),
        ("size = 9", "it is called vector_size"),
        ("whitening = 0.5", "it is whitening in the table [recipe]"),
        ("context_weights = 'none'", "it is weights in the table [recipe.context]"),
        ("vector_size = 'wide'", "vector_size must be an integer"),
        ("callbacks = []", "can be given in Python alone"),
        ("recipe = 'forest'", "recipe must be one of 'trees', 'split', 'paper'"),
        ("[recipe]\nleaves = 3", "recipe must be a name, or a table with a name"),
        ("[recipe]\nname = 'trees'\nleafs = 3", "did you mean leaves?"),
        ("[recipe]\nname = 'split'\ncontext = 3", "context must be a table"),
        (
            "[recipe]\nname = 'split'\n[recipe.context]\nwindo = 3",
            "'windo' is not a setting of context; did you mean wind",
        ),
        ("[tagg]\nmargin = 1", "[tagg] is no command: did you mean [tag]?"),
        ("[tag]\nmarjin = 1", "'marjin' is not a setting of muse tag; did you mean margin?"),
        ("[evaluate.wic]\nfitt = 'dev'", "'fitt' is not a setting of muse evaluate wic; did you mean fit?"),
        ("tag = 3", "tag is a command, so it must be a table"),
        ("vector_size = ", "Invalid value (at end of document)"),
        ("a = [" * 2000, "s.toml"),
        ("\xff", "s.toml"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(workspace, text, message):
    (workspace / "s.toml").write_bytes(text.encode("latin1"))
    done = run(f"muse train {QUICK} --config s.toml", workspace)
    assert done.status == 2
    assert message in done.err
    assert done.err.startswith("muse train: s.toml: ")
    assert done.err.count("\n") == 1
    assert not (workspace / "m").exists()


def test_a_file_that_is_not_there(workspace):
    done = run(f"muse train {QUICK} --config nowhere.toml", workspace)
    assert done.status == 1
    assert "nowhere.toml" in done.err


def test_every_setting_is_an_option_and_is_told(workspace):
    told = [json.loads(line)["name"] for line in run("muse settings --json", workspace).out.splitlines()]
    assert (
        told == option_names() == [n for n in constructor_settings() if n not in ("trim_rule", "callbacks", "progress")]
    )
    told = run("muse settings senses strategy workers", workspace).out
    assert "Default: 'greedy', or 'greedy' with Split, or 'eps_greedy' with Paper. One of greedy, eps_" in " ".join(
        told.split()
    )
    assert "sibling_share" in run("muse settings --recipe paper", workspace).out


@pytest.mark.parametrize("recipe", [None, "trees", "split", "paper"])
def test_the_file_to_fill_in_is_one(workspace, recipe):
    text = run(["settings", "--toml", *(() if recipe is None else ("--recipe", recipe))], workspace).out
    given = [
        line[1:] for line in text.splitlines() if line.startswith("#") and " = " in line and not line.startswith("# ")
    ]
    filled = [line for line in given if not line.endswith("= ")]
    assert len(filled) > 5
    tomllib.loads(text)
    body = "\n".join([*([] if recipe is None else ["[recipe]", f'name = "{recipe}"']), *filled])
    done, _ = trained(
        workspace, body.replace('strategy = "None"', ""), f"{QUICK} --vector-size 8 --epochs 1 --min-count 5"
    )
    assert done.status == 0, done.err
