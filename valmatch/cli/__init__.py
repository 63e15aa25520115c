"""The command line, one module a command, one for those that list."""

from valmatch.cli.app import app, main

__all__ = ["app", "main"]
