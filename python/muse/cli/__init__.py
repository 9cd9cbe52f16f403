"""The command line: `main` runs it; each module of `muse.cli.commands` is one command, or a group of them."""
