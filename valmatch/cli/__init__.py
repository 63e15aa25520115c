"""The command line, one module a command."""

from valmatch.cli.app import app, main

__all__ = ["app", "main"]
