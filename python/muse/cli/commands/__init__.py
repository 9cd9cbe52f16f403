"""The commands. A module here is a command: it holds one, made by `muse.cli.command.command`, of the module's name."""
