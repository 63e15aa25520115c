"""The joint search against enumeration of every pair of teams; long ones end when told to."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.oracles.queue_rules import Team, best_match
from tests.support.command import success
from tests.support.machine import slowness
from tests.support.signals import ended_badly
from valmatch.matching.joint import BEST_A, BEST_B, Pool, find_match, new_work
from valmatch.matching.queue import LINEUP, Rules

Match = tuple[Team, Team] | None
UNLIMITED = 1e9


class Case(NamedTuple):
    ticks: list[int]
    ratings: list[float]
    n_prioritized: int
    rules: Rules


def rules_with(team_num: int = 5, **changes: Any) -> Rules:  # noqa: ANN401
    rules = Rules(
        team_num, 200.0, 200.0, 400.0, 200.0, 0.2, 24.0, False, False, True, False, 2.0**40
    )
    return rules._replace(**changes)


def search(case: Case) -> Match:
    """Call the kernel on a case; work is made to measure, so that overruns would show."""
    n, p = len(case.ticks), case.rules.team_num
    players = np.zeros(n, LINEUP)
    players["rating"] = case.ratings
    players["arrival"] = np.array(case.ticks, np.float64) / case.rules.ticks_per_hour
    work = new_work(n, p)
    if not find_match(Pool(players, n, case.n_prioritized), case.rules, work):
        return None
    return tuple(work.teams[BEST_A].tolist()), tuple(work.teams[BEST_B].tolist())


def random_case(rng: np.random.Generator, team_num: int, n: int) -> Case:
    """Draw a case in which ties and rules that bind are common."""

    def pick(*values: float) -> float:
        return float(rng.choice(values))

    step = pick(1, 25, 50, 100)
    ratings = np.round(rng.normal(1250, pick(60, 120, 205), n) / step) * step
    if rng.random() < 0.2:
        ratings += rng.integers(-64, 64, n) / 64  # dyadic: sums stay exact
    ticks = np.sort(rng.integers(0, int(pick(1, 3, 10, 10**6, 2**44)), n))
    rules = rules_with(
        team_num,
        player_diff=pick(0, 50, 100, 150, 200, 400, UNLIMITED),
        player_slack=pick(0, 50, 100, 200),
        team_diff=pick(0, 2, 5, 20, 50, 100, 200, 400),
        team_slack=pick(0, 0, 5, 50, 100, 200),
        pool_scope=bool(rng.random() < 0.4),
        balanced=bool(rng.random() < 0.5),
    )
    n_prioritized = int(rng.integers(0, n + 1)) if rng.random() < 0.8 else 0
    return Case(ticks.tolist(), ratings.tolist(), n_prioritized, rules)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("team_num", "sizes", "cases"),
    [
        (1, range(1, 11), 500),
        (2, range(3, 10), 400),
        (2, range(10, 13), 40),
        (3, range(5, 9), 400),
        (3, range(9, 11), 40),
        (4, range(8, 10), 100),
        (5, range(10, 11), 60),
    ],
)
def test_equals_enumeration(team_num: int, sizes: range, cases: int) -> None:
    rng = np.random.default_rng((team_num, cases))
    found = 0
    for _ in range(cases):
        case = random_case(rng, team_num, int(rng.choice(sizes)))
        expected = best_match(*case)
        found += expected is not None
        assert search(case) == expected, case
    assert 0.2 * cases < found < 0.95 * cases  # both answers are exercised


@pytest.mark.parametrize(("team_num", "n"), [(2, 14), (3, 12)])
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("ticks", ["equal", "distinct"])
def test_equals_enumeration_in_larger_pools(
    team_num: int, n: int, balanced: bool, ticks: str
) -> None:
    rng = np.random.default_rng((team_num, n))
    case = random_case(rng, team_num, n)
    case = case._replace(
        ticks=[0] * n if ticks == "equal" else list(range(n)),
        ratings=np.round(rng.normal(1250, 120, n)).tolist(),
        n_prioritized=2,
        rules=rules_with(team_num, player_diff=150.0, team_diff=1.0, team_slack=1.0),
    )
    case = case._replace(rules=case.rules._replace(balanced=balanced))
    expected = best_match(*case)
    assert expected is not None
    assert search(case) == expected


def test_arrivals_too_far_apart_are_refused() -> None:
    case = Case([0, 2**59], [1000.0, 1000.0], 0, rules_with(1))
    with pytest.raises(OverflowError, match="too far apart"):
        search(case)


ENDLESS = ("team_num=16", "team_diff=1e-7", "player_diff=3000", "matching=joint")
LONG = tuple(word for one in ENDLESS for word in ("--set", one))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize(
    "workers",
    [
        (),
        pytest.param(("--workers", "2"), marks=pytest.mark.long),
        pytest.param(("--workers", "2", "--executor", "processes"), marks=pytest.mark.long),
    ],
)
def test_a_command_in_a_long_search_ends_when_it_is_told_to(
    workers: tuple[str, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    success(
        "replicate", "valorant", "-n", "1", "--set", "matching=joint", "--out", tmp_path / "short"
    )
    command = ["replicate", "valorant-x10", "-n", "300", *workers, *LONG, "-q", "--out", str(out)]
    assert ended_badly(command, 3.0 * slowness(), signal.SIGTERM) == []
    assert json.loads((out / "manifest.json").read_text())["status"] == "interrupted"
    assert not [path.name for path in out.iterdir() if path.name.startswith(".")]
