"""``muse completion``: what makes a shell complete command lines of this program."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from muse.cli.command import command

_HOW = """
\b
bash: echo 'eval "$(muse completion bash)"' >> ~/.bashrc
zsh:  echo 'eval "$(muse completion zsh)"' >> ~/.zshrc
fish: muse completion fish > ~/.config/fish/completions/muse.fish"""


@command("This program", "muse completion bash > muse-completion.sh", answers=False)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what makes a shell complete command lines: commands, options, files, words of a model."""
    kind = get_completion_class(shell)
    assert kind is not None
    context = click.get_current_context()
    print(kind(context.find_root().command, {}, "muse", "_MUSE_COMPLETE").source())


completion.help = f"{completion.help}\n{_HOW}"
