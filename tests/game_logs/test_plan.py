"""Plans of games: known answers, the same bytes by any workers, files, figures, bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import valmatch as library
from tests.support.command import success, valmatch
from tests.support.folders import rows
from tests.support.refusals import defined
from valmatch.draws.streams import Streams
from valmatch.game_logs.next_pairs import caution
from valmatch.game_logs.planning import (
    GAMES,
    PlannedGames,
    measure,
    play,
    play_evenly,
)
from valmatch.kernels.arrays import Floats
from valmatch.ratings.bradley_terry.contests import duel_chances
from valmatch.ratings.bradley_terry.dense import fit_counts, frame_of, new_counts, space_of
from valmatch.ratings.bradley_terry.fit import POINTS

SMALL = ("--players", 4, "--spread", 100, "--half-width", 120, "--replications", 6)


def measured(plan: PlannedGames) -> Floats:
    """Return what the leagues of a plan measured, which is not in its folder."""
    return defined(plan.measured)


def in_theory(n: int, width: float, quantile: float = 1.959964) -> float:
    """Return the games of n equals without draws and prior until differences are so well known."""
    return 4.0 * (n - 1) * (quantile / (POINTS * width)) ** 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "width", "level"), [(10, 30.0, 0.95), (4, 20.0, 0.95), (20, 40.0, 0.95), (6, 25.0, 0.8)]
)
def test_equals_take_the_games_of_the_formula(n: int, width: float, level: float) -> None:
    given: dict[str, Any] = {"players": n, "spread": 0.0, "prior": None, "half_width": width}
    found = library.plan_games(**given, level=level, replications=100)
    expected = in_theory(n, width, {0.95: 1.959964, 0.8: 1.281552}[level])
    assert found.games == pytest.approx(expected, rel=0.03)
    assert defined(found.low) <= defined(found.games) <= defined(found.high)
    coverage = np.array(found.columns()["coverage"][-8:])
    assert abs(coverage.mean() - level) < 0.01


@pytest.mark.parametrize("policy", ["uniform", pytest.param("information", marks=pytest.mark.slow)])
def test_workers_make_no_difference(policy: str, tmp_path: Path) -> None:
    files = ("plan.csv", "summary.json")
    for workers in (1, 2):
        given = (*SMALL, "--policy", policy, "--workers", workers)
        success("plan", *given, "--out", tmp_path / str(workers))
    first, second = ([(tmp_path / w / name).read_bytes() for name in files] for w in "12")
    assert first == second


def test_longer_leagues_begin_as_shorter_ones() -> None:
    given: dict[str, Any] = {"players": 4, "spread": 100.0, "replications": 5}
    short = library.plan_games(**given, half_width=150.0)
    long = library.plan_games(**given, half_width=15.0)
    points = len(short.grid)
    assert len(long.grid) > points
    assert np.array_equal(long.grid[:points], short.grid)
    assert np.array_equal(measured(long)[:, :points], measured(short), equal_nan=True)


def test_half_widths_are_empty_until_all_are_rated(tmp_path: Path) -> None:
    given = ("--players", 8, "--spread", 200, "--prior", "none", "--half-width", 100)
    success("plan", *given, "--replications", 20, "--out", tmp_path / "out")
    table = rows(tmp_path / "out" / "plan.csv")
    assert table[0]["half_width"] == table[0]["half_width_std_error"] == ""
    assert float(table[0]["named_best"]) == 0.0
    assert table[-1]["half_width"] != ""


def test_what_cannot_be_reached_is_exit_3() -> None:
    least = ("--players", 3, "--spread", 10, "--half-width", 1, "--max-games", 200)
    given = (*least, "--replications", 3)
    assert "200 games do not reach a mean half-width" in valmatch("plan", *given).out
    done = valmatch("plan", *given, "--json")
    found = json.loads(done.out)
    assert (done.code, found["games"], found["low"], found["high"]) == (3, None, None, None)


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rated")
    rng, lines = np.random.default_rng(5), ["player_a,player_b,result"]
    for _ in range(60):
        i, j = rng.permutation(4)[:2]
        lines.append(f"p{i},p{j},{rng.choice(['1-0', '0-1', '1/2-1/2'])}")
    (folder / "log.csv").write_text("\n".join([*lines, ""]))
    library.rank_games(folder / "log.csv", prior=200.0, out=folder / "ratings")
    return folder / "ratings"


def test_the_games_of_a_folder_stay(rated: Path) -> None:
    """At its first numbers of games a plan knows what the ratings knew."""
    with np.load(rated / "posterior.npz") as held:
        covariance = held["covariance"]
    own = np.diag(covariance)
    errors = np.sqrt(own[:, None] + own - 2.0 * covariance)
    width = 1.959964 * errors[np.triu_indices(4, 1)].mean()
    found = library.plan_games(rated, half_width=20.0, replications=60)
    widths, games = found.columns()["half_width"], found.grid
    assert width > widths[0] > widths[-1]
    assert widths[0] > 0.8 * width  # ten games more than sixty
    # From there on information grows by as much a game as in even play.
    assert widths[-1] == pytest.approx(width * math.sqrt(60 / (60 + games[-1])), rel=0.1)
    coverage = measured(found)[:, :, 3]
    error = coverage[:, 0].std(ddof=1) / math.sqrt(60)
    assert abs(coverage[:, 0].mean() - 0.95) < 3.0 * error


def test_what_choosing_does_to_intervals_is_said() -> None:
    given = (*SMALL[:-2], "--replications", 2, "--max-games", 30)
    even, chosen = (valmatch("plan", *given, *more) for more in ((), ("--policy", "closeness")))
    assert "Pairs chosen by earlier results" not in even.out
    assert caution("closeness", "") in " ".join(chosen.out.split())
    found = json.loads(valmatch("plan", *given, "--policy", "closeness", "--json").out)
    assert [row["text"] for row in found["warnings"]] == [caution("closeness", "")]


@pytest.mark.slow
def test_a_policy_that_chooses_names_the_best_sooner() -> None:
    given: dict[str, Any] = {"players": 6, "spread": 100.0, "best": 0.5, "replications": 60}
    given |= {"max_games": 300, "seed": 3}
    even = library.plan_games(**given)
    chosen = library.plan_games(**given, policy="knowledge_gradient")
    points = min(len(even.grid), len(chosen.grid))
    means = [measured(found)[:, :points, 1].mean(axis=0)[-4:].mean() for found in (even, chosen)]
    assert means[1] > means[0]


def test_pairs_who_have_met_the_least_play() -> None:
    words = Streams(1).words(0, GAMES)
    before = np.array([[0, 3, 0, 1], [3, 0, 2, 0], [0, 2, 0, 0], [1, 0, 0, 0]])
    counts, cursor, truth = new_counts(4), np.zeros(3, np.int64), np.zeros(6)
    expected = before.copy()
    upper = list(zip(*np.triu_indices(4, 1), strict=True))
    for _ in range(15):
        i, j = min(upper, key=lambda pair: expected[pair])
        expected[i, j] += 1
        expected[j, i] += 1
        play_evenly(words, truth, counts, cursor, before, 1)
        assert sorted(before[np.triu_indices(4, 1)]) == sorted(expected[np.triu_indices(4, 1)])
    assert counts.won.sum() + counts.lost.sum() == 15


@pytest.mark.parametrize("lead", [-200.0, 150.0])
def test_games_end_as_often_as_they_should(lead: float) -> None:
    words, n = Streams(2).words(0, GAMES), 20_000
    truth = np.array([POINTS * lead, 0.0, 30.0 * POINTS, 0.7])
    counts, before = new_counts(2), np.zeros((2, 2), np.int64)
    for _ in range(n):
        play(words, truth, counts, 0, 1, before)
    for i, j, edge in ((0, 1, lead + 30.0), (1, 0, 30.0 - lead)):
        chances = duel_chances(np.array([POINTS * edge]), math.log(0.7))
        seen = counts.won[i, j], counts.drawn[i, j], counts.lost[i, j]
        assert sum(seen) == n / 2
        for count, p in zip(seen, (chances.first, chances.drawn, chances.second), strict=True):
            error = math.sqrt(n / 2 * p[0] * (1.0 - p[0]))
            assert abs(count - n / 2 * p[0]) < 3.5 * error


def test_measures_are_those_of_plain_numpy() -> None:
    rng = np.random.default_rng(6)
    for seed in range(10):
        n = 5
        frame, counts = frame_of(n, 200.0, False, False), new_counts(n)
        counts.won[:], counts.lost[:] = rng.integers(0, 30 + 60 * seed, (2, n, n))
        counts.won[range(n), range(n)] = counts.lost[range(n), range(n)] = 0.0
        space, truth = space_of(frame), np.append(rng.normal(0.0, 0.5, n), [0.0, 0.0])
        assert fit_counts(counts, frame, space)
        out = np.empty(4)
        measure(space, truth, 1.96, 2.7, out, True)
        own = np.diag(space.covariance)
        errors = np.sqrt(np.maximum(own[:, None] + own - 2.0 * space.covariance, 0.0))
        leads = space.places[:n, None] - space.places[:n]
        upper = np.triu_indices(n, 1)
        off = np.abs(leads - (truth[:n, None] - truth[:n]))[upper]
        tied = (2.7 * errors >= leads.T).all(axis=1)
        expected = [
            1.96 * errors[upper].mean() / POINTS,
            space.places[:n].argmax() == truth[:n].argmax(),
            tied.sum() == 1,
            (off <= 1.96 * errors[upper]).mean(),
        ]
        assert out == pytest.approx(np.array(expected, float), rel=1e-10)
