"""Words and numbers as people write them, and where commands say what there is."""

from __future__ import annotations

import json

import pytest

from tests.support.command import refusal, valmatch
from valmatch.config.loading import load_config, shipped_configs
from valmatch.text.durations import in_words
from valmatch.text.numerals import DIGITS, count

SMALL_ = ("--set", "horizon=2")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("12", 12), ("1e6", 10**6), ("1E+3", 1000), ("2.50e1", 25), ("1,000,000", 10**6)),
        ("12,345", 12345),
        *((wrong, None) for wrong in ("1.0", "1.25e1", "1e-3", "1,00", "1,0000", ",100", "1_000")),
        *((wrong, None) for wrong in ("-1e3", "٣e3", "", "1" * (DIGITS + 1))),
    ],
)
def test_counts_as_people_write_them(text: str, number: int | None) -> None:
    assert count(text) == number


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "0 s"), (59.6, "1 min"), (95.0, "1 min 35 s"), (7260.0, "2 h 1 min"), (9e4, "1 d 1 h")],
)
def test_durations_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_names_in_a_line_are_a_list() -> None:
    listed = load_config("valorant", ["measure=[bands, hours]"])
    assert load_config("valorant", ["measure=bands,hours"]).factors == listed.factors
    assert (
        load_config("valorant", ["measure=bands"]).factors
        == load_config("valorant", ["measure=[bands]"]).factors
    )
    one = load_config("kg-fig1-top", ["policies=oracle"])
    assert one.factors == load_config("kg-fig1-top", ["policies=[oracle]"]).factors
    for wrong in ("bnds", "bands,", "bands;hours"):
        line = refusal("simulate", "valorant", "--set", f"measure={wrong}")
        assert f"factors.measure: should be a list (got {wrong!r})" in line


@pytest.mark.slow
def test_help_and_version() -> None:
    assert valmatch("help", "plot").out == valmatch("plot", "--help").out
    assert valmatch("help").out == valmatch("--help").out
    assert valmatch("help", "help").code == 0
    assert valmatch("-V").out == valmatch("--version").out
    line = refusal("help", "replicat")
    assert line == "replicat: no such command (did you mean replicate?)"


def test_shipped_configs_are_listed() -> None:
    done = valmatch("configs", "--json")
    found = {row["config"]: row for row in json.loads(done.out)["configs"]}
    assert list(found) == list(shipped_configs())
    assert found["ladder-elo"] == {
        "config": "ladder-elo",
        "model": "ladder",
        "about": "One against one, rated by Elo.",
    }
    assert all(row["about"].endswith(".") and row["model"] for row in found.values())
    lines = valmatch("configs").out.splitlines()
    assert lines[0].split() == ["config", "model", "what", "it", "is"]
    assert max(map(len, lines)) <= 80


def test_an_unknown_model_names_entry_points() -> None:
    line = refusal("factors", "duels")
    assert "; installed packages bring others by entry points of the group valmatch.models" in line


@pytest.mark.slow
def test_a_config_without_a_problem_names_the_shipped_ones() -> None:
    line = refusal("optimize", "valorant")
    assert "missing (at least one is needed; shipped problems of valorant: chess-1, valor" in line
    assert "shipped problems of opponent: kg-tune)" in valmatch("optimize", "kg-fig1-top").err
