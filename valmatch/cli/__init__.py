"""The command line, a module for commands on the same things."""

from valmatch.cli.app import command_line, main

__all__ = ["command_line", "main"]
