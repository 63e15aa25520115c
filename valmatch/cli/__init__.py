"""The command line, one module a command, one for those that list."""

from valmatch.cli.app import command_line, main

__all__ = ["command_line", "main"]
