"""Help: each command with its place in the reference, each option with a sentence, uncut."""

from __future__ import annotations

import re
from typing import Any

import pytest
import typer

from tests.support.command import valmatch
from valmatch.cli.app import GROUPS, MODULES, RULES, command_line

COMMANDS = [(name,) for name in (*MODULES, "help")] + [("rules", name) for name in RULES]
WIDTH = 80


@pytest.mark.parametrize("width", [WIDTH, None])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_is_whole_and_fits(
    command: tuple[str, ...], width: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a terminal of 80 columns, and written to a file."""
    monkeypatch.delenv("COLUMNS", raising=False)
    if width:
        monkeypatch.setenv("COLUMNS", str(width))
    done = valmatch(*command, "--help")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= WIDTH
    group: Any = typer.main.get_command(command_line(command[0]))
    context = group.make_context("valmatch", [], resilient_parsing=True)
    for name in command:
        group = group.commands[name]
        context = group.make_context(name, [], parent=context, resilient_parsing=True)
    words = set(done.out.split())
    assert set(group.help.split()) <= words
    for names, sentence in (row for rows in group.by_group(context).values() for row in rows):
        assert re.fullmatch(r"\w.*[.\]]", sentence), names
        assert set(f"{names} {sentence}".split()) <= words, names


@pytest.mark.parametrize("group", [(), ("rules",)])
def test_a_group_alone_shows_its_commands(group: tuple[str, ...]) -> None:
    done = valmatch(*group)
    assert (done.code, done.out) == (2, "")
    assert done.err == valmatch(*group, "--help").out
    lines = done.err.splitlines()
    assert max(map(len, lines)) <= WIDTH
    groups = [RULES] if group else GROUPS.values()
    shown = {f"{name} {text}" for named in groups for name, (_, text) in named.items()}
    assert shown <= {" ".join(line.split()) for line in lines}
