"""A misspelt name finds the one that is meant."""

from __future__ import annotations

import pytest

from valmatch.text.suggestions import by_last_part, closest_name, hint

PARAMETERS = ("T", "GAME_MULT", "MAX_GAME_LENGTH")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("game_mult", "GAME_MULT"),
        ("Game-Mul", "GAME_MULT"),
        ("t", "T"),
        ("max_length", "MAX_GAME_LENGTH"),
        ("K", None),
        ("", None),
    ],
)
def test_case_and_hyphens_do_not_count(name: str, meant: str | None) -> None:
    assert closest_name(name, PARAMETERS) == meant
    assert closest_name(name, [parameter.lower() for parameter in PARAMETERS]) == (
        meant and meant.lower()
    )


def test_several_names_that_begin_so_are_offered() -> None:
    figures = ["fig-1-top", "fig-1-low", "fig-2"]
    assert hint("fig-1", figures) == "did you mean fig-1-top or fig-1-low?"


def test_dotted_names_are_known_by_their_last_part() -> None:
    names = ["days", "match.beta", "rating.beta", "rating.tau"]
    places = by_last_part(names)
    assert places == {"days": "days", "beta": "match.beta or rating.beta", "tau": "rating.tau"}
    assert by_last_part(names, "rating") == {**places, "beta": "rating.beta"}
    assert hint("tua", places, places) == "did you mean rating.tau?"
    assert hint("bet", places, places) == "did you mean match.beta or rating.beta?"
    assert hint("zz", ["tau"], places) == "allowed: rating.tau"
