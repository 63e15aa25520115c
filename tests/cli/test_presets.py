"""`rules show --preset`: the long form of a living matchmaker's rule, and its constants."""

from __future__ import annotations

import json

import pytest

from tests.support.command import valmatch


def test_the_long_form_and_the_constants_are_printed() -> None:
    result = valmatch("rules", "show", "--preset", "osu")
    assert result.code == 0
    assert "search: pivots\n" in result.out
    found = json.loads(valmatch("rules", "show", "--preset", "osu", "--constants", "--json").out)
    assert found["radius"] == 20
    assert found["lobby_size"] == 2
    lines = valmatch("rules", "show", "--preset", "shieldbattery", "--constants").out.splitlines()
    assert [line.split()[:2] for line in lines if line.startswith("half_life")] == [
        ["half_life", "1200"]
    ]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--preset", "oso"], "preset: 'oso' is none (did you mean osu?)"),
        (["--preset", "lichess", "--teams", "2x2"], "preset lichess knows no teams of 2"),
        (["--preset", "faf", "--teams", "four"], "no teams (allowed: such as 2x4"),
        (["--preset", "faf", "rules.json"], "stands in place of FILE"),
        (["--constants"], "--constants: --preset is needed too"),
        ([], "FILE or --preset is needed"),
    ],
)
def test_wrong_ones_are_refused_in_a_line(arguments: list[str], text: str) -> None:
    result = valmatch("rules", "show", *arguments)
    assert result.code == 2
    assert text in result.err
    assert len(result.err.strip().splitlines()) == 1
