"""Responses that are asked for: differences, fairness, bands of players by rating."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import valmatch as library
from tests.support import folders
from tests.support.command import valmatch
from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.execution.chunks import build, run
from valmatch.models.model import Model
from valmatch.models.valorant.days import RESPONSES
from valmatch.models.valorant.measures import band_names, pair_diffs

ALL = {"measure": ["differences", "pairs", "elo", "fairness", "bands"], "horizon": 6, "team_num": 3}
LIMITS = {"bottom_10%": (0, 0.1), "10-50%": (0.1, 0.5), "50-90%": (0.5, 0.9), "90-99%": (0.9, 0.99)}


def from_tables(folder: Path, spread: float) -> dict[str, float]:
    """Compute every further response from the files alone."""
    players = folders.rows(folder / "players.csv")
    matches = folders.rows(folder / "matches.csv")
    rating = [float(one["rating"]) for one in players]
    gaps = [float(one["team_diff"]) for one in matches]
    ranges, pairs = [], []
    for one in matches:
        for side in ("team_a", "team_b"):
            team = [rating[int(player)] for player in one[side].split(";")]
            ranges.append(max(team) - min(team))
            pairs.append(np.mean([abs(a - b) for a, b in itertools.combinations(team, 2)]))
    found = {}
    for name, values in (("team_diff", gaps), ("player_diff", ranges)):
        for p in (50, 90, 95):
            found[f"{name}_p{p}"] = float(np.quantile(values, p / 100))
    found["avg_pair_diff"] = float(np.mean(pairs))
    elo = [float(one["elo"]) for one in players]
    apart = []
    for one in matches:
        a, b = ([elo[int(p)] for p in one[side].split(";")] for side in ("team_a", "team_b"))
        apart.append(abs(sum(a) / len(a) - sum(b) / len(b)))
    found["avg_elo_diff"] = float(np.mean(apart))
    chances = [1 / (1 + 10 ** (-gap / spread)) for gap in gaps]
    found["win_gap"] = sum(abs(p - 0.5) for p in chances) / len(chances)
    found["even_fraction"] = sum(0.45 <= p <= 0.55 for p in chances) / len(chances)
    for band, (low, high) in {**LIMITS, "top_1%": (0.99, 2)}.items():
        least = np.quantile(rating, low) if low else -np.inf
        most = np.quantile(rating, high) if high < 1 else np.inf
        own = [one for one in players if least <= float(one["rating"]) < most]
        served = [one for one in own if one["match"]]
        waits = [float(one["wait_minutes"]) for one in served]
        found[f"matched_fraction.{band}"] = len(served) / len(own)
        found[f"avg_wait_time.{band}"] = float(np.mean(waits))
        found[f"wait_p50.{band}"] = np.quantile(waits, 0.5)
        found[f"wait_p95.{band}"] = np.quantile(waits, 0.95)
        found[f"avg_team_diff.{band}"] = float(np.mean([gaps[int(one["match"])] for one in served]))
    return found


@pytest.mark.parametrize("team_num", range(2, 9))
def test_differences_of_two_players_are_those_of_all_pairs(team_num: int) -> None:
    rng = np.random.default_rng(team_num)
    teams = rng.integers(0, 12, (60, team_num)).astype(float)  # with equal ratings
    expected = [np.mean([abs(a - b) for a, b in itertools.combinations(t, 2)]) for t in teams]
    assert pair_diffs(teams) == pytest.approx(expected, rel=1e-13)
    assert pair_diffs(teams[:, :2]).tolist() == np.ptp(teams[:, :2], axis=1).tolist()


def test_a_team_of_one_has_no_pair() -> None:
    config = library.load_config("valorant", {"measure": ["pairs"], "team_num": 1, "horizon": 4})
    found = library.replicate(config, 3).estimates
    assert found["avg_player_diff"].mean == 0.0
    assert found["avg_pair_diff"].undefined == 3


def test_elo_alone_is_the_rating_where_nothing_else_counts() -> None:
    given = {"measure": ["elo"], "horizon": 8, "team_num": 2}
    alone = library.load_config("valorant", {**given, "multiplier_matrix": [1.0, 0.0, 0.0]})
    found = library.replicate(alone, 4).estimates
    assert found["avg_elo_diff"].mean == pytest.approx(found["avg_team_diff"].mean, rel=1e-12)
    both = library.replicate(library.load_config("valorant", given), 4).estimates
    assert both["avg_elo_diff"].mean != pytest.approx(both["avg_team_diff"].mean, rel=1e-3)


def test_elo_of_a_log_is_that_of_its_column(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arrival_hours,elo,kd,wr\n0,1500,1,50\n1,1600,2,60\n2,1450,1,55\n3,1480,1,40\n")
    given = ["measure=[elo]", "team_num=2", "team_diff=1e6", "player_diff=1e6"]
    day = library.simulate(library.load_config("valorant", [f"arrivals={path}", *given]))
    names = [one.name for one in day.responses]
    assert day.values[names.index("avg_elo_diff")] == (1500 + 1600) / 2 - (1450 + 1480) / 2


def test_elo_that_nobody_has_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arrival_hours,rating\n0,1500\n1,1510\n")
    how = ("simulate", "valorant", "--set", "measure=[elo]", "--out", tmp_path / "out")
    made = valmatch(*how, "--set", f"arrivals={path}")
    assert made.code == 2
    assert made.err == (
        f"{path}: factors.measure: elo: the log has ratings alone (allowed: with the columns elo,"
        " kd and wr)\n"
    )
    made = valmatch(*how, "--set", "rating_quantiles=[[0.1, 900], [0.9, 1700]]")
    assert made.code == 2
    assert len(made.err.splitlines()) == 1
    assert "players drawn by rating_quantiles have ratings alone" in made.err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_without_rules_pairs_differ_as_two_normal_ratings_do() -> None:
    # The mean difference of two normals is 2 / sqrt(pi) standard deviations; those of a fifo team
    # are independent of one another. No matrix entry is near a bound at which a vector is redrawn.
    given = {
        "matching": "fifo",
        "measure": ["pairs"],
        "mean_matrix": [9000.0, 100.0, 900.0],
        "multiplier_matrix": [1.0, 0.0, 0.0],
    }
    one = library.replicate(library.load_config("valorant", given), 400).estimates["avg_pair_diff"]
    error = one.std_error or 0
    assert one.mean == pytest.approx(200.0 * 2.0 / np.sqrt(np.pi), abs=4 * error)
    assert error < 1.0


@pytest.mark.parametrize("matching", ["team_first", "joint"])
def test_they_are_what_the_tables_say(matching: str, tmp_path: Path) -> None:
    config = library.load_config("valorant", {**ALL, "spread": 173.0, "matching": matching})
    day = library.simulate(config, replication=2, out=tmp_path / "day")
    names = [one.name for one in day.responses]
    values = dict(zip(names, day.values.tolist(), strict=True))
    expected = from_tables(tmp_path / "day", 173.0)
    assert [*RESPONSES.names, *expected] == names
    further = {name: values[name] for name in expected}
    assert further == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_they_change_nothing_else() -> None:
    plain = build(library.load_config("valorant", {"horizon": 6, "team_num": 3}))
    further = {**ALL, "measure": [*ALL["measure"], "hours"]}  # type: ignore[misc]
    asked = build(library.load_config("valorant", further))
    before = run(plain, 1, range(5)).responses
    found = run(asked, 1, range(5)).responses
    assert before.tobytes() == found[:, : len(RESPONSES)].tobytes()
    one_by_one = Model.run_many(asked, Streams(1), range(5), False, lambda: None).responses
    assert one_by_one.tobytes() == found.tobytes()
    assert plain.responses is RESPONSES


def test_names_of_bands() -> None:
    assert band_names((0.0, 1.0)) == ["all"]
    assert band_names((0.0, 0.125, 0.995, 1.0)) == ["bottom_12.5%", "12.5-99.5%", "top_0.5%"]


@pytest.mark.parametrize("bands", [[0, 0.5], [0.1, 1], [0, 0.5, 0.5, 1], [0, 0.9, 0.5, 1], [0]])
def test_bands_ascend_from_0_to_1(bands: list[float]) -> None:
    with pytest.raises(InputError, match=r"factors\.bands"):
        library.load_config("valorant", {"bands": bands})


def test_a_band_of_a_log_that_holds_nobody_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arrival_hours,rating\n0,1500\n1,1500\n2,1500\n")
    made = valmatch(
        "simulate", "valorant", "--set", f"arrivals={path}", "--set", "measure=[bands]",
        "--set", "bands=[0, 0.5, 1]", "--out", tmp_path / "out",
    )  # fmt: skip
    assert made.code == 2
    assert made.err == (
        f"{path}: factors.bands: bottom_50% holds nobody (too many ratings are the same)\n"
    )
    assert not (tmp_path / "out").exists()
