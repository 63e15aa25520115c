"""The list of responses, and the choice of those that are shown."""

from __future__ import annotations

import json

import pytest

import valmatch as library
from tests.support.command import success, valmatch
from valmatch.models.registry import MODELS
from valmatch.models.valorant.days import RESPONSES


@pytest.mark.parametrize("model", list(MODELS))
def test_every_response_is_listed_with_unit_and_meaning(model: str) -> None:
    found = json.loads(success("responses", model, "--json").out)
    assert all(one["meaning"] for one in found.values())
    table = success("responses", model)
    assert max(map(len, table.out.splitlines())) <= 80
    assert all(name in table.out for name in found)


def test_those_of_valorant_are_in_groups() -> None:
    found = json.loads(valmatch("responses", "--json").out)
    assert [name for name, one in found.items() if one["group"] is None] == list(RESPONSES.names)
    assert found["wait_p95.top_1%"]["group"] == "bands"
    assert found["win_gap"]["group"] == "fairness"
    assert "matched players" in found["wait_p95"]["meaning"]
    other = json.loads(valmatch("responses", "--set", "bands=[0, 0.5, 1]", "--json").out)
    assert "wait_p95.top_50%" in other


@pytest.mark.slow
def test_the_chosen_are_computed_and_shown_alone() -> None:
    how = ("--set", "horizon=4", "--responses", "wait_p95.bottom_10%,avg_wait_time")
    made = success("replicate", "valorant", "-n", "3", *how)
    shown = [line.split()[0] for line in made.out.splitlines()[2:]]
    assert shown == ["avg_wait_time", "wait_p95.bottom_10%"]
    config = library.load_config("valorant", {"horizon": 4, "measure": ["bands"]})
    mean = library.replicate(config, 3).estimates["avg_wait_time"].mean
    assert f"{mean:.1f}" in made.out
    for command in (
        ("simulate", "valorant"),
        ("replicate", "valorant", "-n", "2", "--sweep", "team_diff=100,200"),
        ("compare", "valorant", "valorant-start", "-n", "2"),
        ("compare", "valorant", "--set", "team_diff=100", "-n", "2"),
    ):
        made = success(*command, *how)
        assert "wait_p95.bottom_10%" in made.out
        assert "avg_player_diff" not in made.out
