"""Tables on the terminal: parts as tables of their own, units once, 80 columns."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from tests.support.command import refusal, success, valmatch
from tests.support.folders import rows
from valmatch.present.document import TextTable
from valmatch.present.terminal import print_table

BANDS = ["bottom_10%", "10-50%", "50-90%", "90-99%", "top_1%"]
MEASURES = ["matched_fraction", "avg_wait_time", "wait_p50", "wait_p95", "avg_team_diff"]
UNITS = ["", " [minutes]", " [minutes]", " [minutes]", " [Elo points]"]
SMALL = ("--set", "horizon=6", "--set", "team_num=2")


def tables(text: str) -> dict[str, list[list[str]]]:
    """Return the words of the lines of each table by the line above it."""
    blocks = [block.splitlines() for block in text.split("\n\n")]
    return {head: [line.split() for line in lines] for head, *lines in blocks}


@pytest.mark.slow
@pytest.mark.parametrize(
    "variants", [["team_diff=20"], [f"team_diff={diff}" for diff in (10, 20, 40, 80)]]
)
def test_bands_of_compared_systems_are_tables(variants: list[str], tmp_path: Path) -> None:
    given = [word for variant in variants for word in ("--variant", variant)]
    asked = ("--set", "measure=[bands]", "-n", "6", "--out", tmp_path / "out")
    done = success("compare", "valorant", *SMALL, *given, *asked)
    assert max(map(len, done.out.splitlines())) <= 80
    assert "avg_wait_time.top_1%" not in done.out
    found = tables(done.out)
    table = rows(tmp_path / "out" / "differences.csv")
    by_name = {(row.get("variant", "b"), row["response"]): row for row in table}
    for measure, unit in zip(MEASURES, UNITS, strict=True):
        header, *lines = found[measure + unit]
        assert header[:2] == ["band", "A"]
        assert [line[0] for line in lines[:5]] == BANDS
        column = header.index("-") - 1 if len(variants) > 1 else 3
        for line in lines[:5]:
            row = by_name["b", f"{measure}.{line[0]}"]
            assert float(line[column]) == pytest.approx(float(row["mean"]), rel=0.06, abs=6e-4)


def test_units_stand_in_the_first_of_divided_tables() -> None:
    given = [word for diff in (5, 10, 20, 40) for word in ("--variant", f"team_diff={diff}")]
    done = valmatch("compare", "valorant", *SMALL, *given, "-n", "4")
    heads = [line.split() for line in done.out.splitlines() if line.startswith("response")]
    assert len(heads) > 1
    assert [head.count("unit") for head in heads] == [1] + [0] * (len(heads) - 1)
    assert heads[0][-1] == "unit"
    assert [word for head in heads for word in head if len(word) == 1 and word in "BCDE"] == [
        *"BCDE"
    ]


def test_numbers_of_replications_that_all_are_the_same_give_way_to_units() -> None:
    table = TextTable.of("response", "mean", "± 95%", "n", "unit")
    table.add("x" * 53, "1.0", "0.5", "1000", "minutes")
    assert printed(table, spare="") == ["response|mean|± 95%|unit", "response|n"]
    assert printed(table, spare="n") == ["response|mean|± 95%|unit"]
    narrow = TextTable.of("response", "mean", "± 95%", "n", "unit")
    narrow.add("x" * 40, "1.0", "0.5", "1000", "minutes")
    assert printed(narrow, spare="n") == ["response|mean|± 95%|n|unit"]


def printed(table: TextTable, spare: str) -> list[str]:
    """Return the heads of the tables that are printed, their columns between bars."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        table.spare = spare
        print_table("", table)
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    return [re.sub(r" {2,}", "|", line) for line in lines if line.startswith("response")]


def test_bands_and_hours_of_one_system_have_their_units() -> None:
    done = valmatch("replicate", "valorant", *SMALL, "--set", "measure=[bands, hours]", "-n", "3")
    words = done.out.split()
    assert words.count("[minutes]") == 3 + 1
    assert words.count("[players]") == 1
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    first = next(k for k, line in enumerate(lines) if line.startswith("band"))
    assert lines[first].split()[1:] == ["matched_fraction", "±", "avg_wait_time", "±"]
    assert lines[first + 1].split() == ["[minutes]"]
    assert lines[first + 1].index("]") == lines[first].rindex("avg_wait_time") + 12
    assert sum(line.startswith("5-6h") for line in lines) == 2
    alone = next(
        k for k, line in enumerate(lines) if line.split()[:2] == ["hour", "prioritized_fraction"]
    )
    assert lines[alone + 1].startswith("0-1h")


def test_policies_have_a_table_each() -> None:
    small = ("--set", "n_opponents=4", "--set", "n_games=250")
    done = valmatch("replicate", "kg-fig1-top", *small, "-n", "3")
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    for policy in ("point_estimate", "draw_chance", "knowledge_gradient"):
        first = lines.index(policy)
        assert lines[first - 1] == ""
        assert lines[first + 1].split() == ["response", "mean", "±", "95%", "n", "unit"]
        assert lines[first + 2].split()[0] == "expected_quality.total"
        assert lines[first + 3].split()[0] == "true_draw_probability.1-100"


# ---- optimize ----

BUDGET = ("--budget", "100")


@pytest.mark.slow
def test_the_recommended_point_is_shown_in_the_chosen_responses() -> None:
    chosen = "win_gap,wait_p95.top_1%,avg_wait_time"
    done = valmatch("optimize", "valorant-20min", *BUDGET, "--responses", chosen)
    assert done.code in (0, 3), done.err
    lines = done.out.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("response"))
    names = [line.split()[0] for line in lines[start + 1 : lines.index("", start)]]
    assert names == ["avg_wait_time", "win_gap", "wait_p95.top_1%"]
    assert "matched_fraction" not in done.out
    wrong = refusal("optimize", "valorant-20min", *BUDGET, "--responses", "win_gab")
    assert wrong.startswith("--responses: 'win_gab' is no response (")


@pytest.mark.slow
def test_bands_of_the_recommended_point_are_tables() -> None:
    done = valmatch("optimize", "valorant-20min", *BUDGET, "--set", "measure=[bands]")
    assert max(map(len, done.out.splitlines())) <= 80
    found = tables(done.out)
    for measure, unit in zip(MEASURES, UNITS, strict=True):
        header, *lines = found[measure + unit]
        assert header == ["band", "start", "recommended", "change", "±", "95%"]
        assert [line[0] for line in lines] == BANDS
    assert "avg_wait_time.top_1%" not in done.out
