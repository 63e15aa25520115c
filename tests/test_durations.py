"""Durations with their unit, wherever a factor is one."""

from __future__ import annotations

import pytest

from tests.command import valmatch
from valmatch.config.factor_paths import flat
from valmatch.config.identity import config_id
from valmatch.config.loading import load
from valmatch.errors import InputError


def factor(model: str, name: str, text: str) -> object:
    return flat(load({"model": model}, [f"{name}={text}"]).factors.model_dump(mode="json"))[name]


@pytest.mark.parametrize(
    ("model", "name", "text", "value"),
    [
        ("valorant", "wait_thresh", "12 min", 0.2),
        ("valorant", "wait_thresh", "0.2 h", 0.2),
        ("valorant", "wait_thresh", "720s", 0.2),
        ("valorant", "wait_thresh", "0.2", 0.2),
        ("valorant", "horizon", "1 day", 24.0),
        ("ladder", "rule.wait_thresh", "6 minutes", 0.1),
        ("ladder", "sessions.patience_minutes", "0.5 h", 30.0),
        ("ladder", "match.minutes", "1200 s", 20.0),
        ("ladder", "days", "672 hours", 28.0),
    ],
)
def test_a_duration_is_read_in_the_unit_of_its_factor(
    model: str, name: str, text: str, value: float
) -> None:
    assert factor(model, name, text) == value


def test_units_leave_the_id_of_a_config_alone() -> None:
    assert config_id(load("valorant", ["wait_thresh=12 min"])) == config_id(load("valorant"))


@pytest.mark.parametrize("text", ["12 fortnights", "min", "-3 min", "1 2 min", "nan h", "12 MIN"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(InputError) as error:
        load("valorant", [f"wait_thresh={text}"])
    assert "factors.wait_thresh" in str(error.value)
    assert "(allowed: a number >= 0, in hours, or with a unit, such as 12 min)" in str(error.value)


def test_other_factors_take_no_units() -> None:
    with pytest.raises(InputError, match="is a string"):
        load("valorant", ["team_diff=12 min"])


def test_a_sweep_takes_units() -> None:
    made = valmatch(
        "replicate", "valorant", "-n", "2", "--sweep", "wait_thresh=6 min,0.2 h", "--set",
        "horizon=2",
    )  # fmt: skip
    assert made.code == 0, made.err
    assert "6 min" in made.out


def test_minutes_in_place_of_hours_are_remarked_upon() -> None:
    (remark,) = load("valorant", ["wait_thresh=12"]).warnings
    assert "factors.wait_thresh: 12 hours; 12 minutes is 0.2 (a bare number is hours" in remark
    assert not load("valorant", ["wait_thresh=2"]).warnings
    (remark,) = load({"model": "ladder"}, ["rule.wait_thresh=12"]).warnings
    assert "12 minutes is 0.2" in remark
