"""`next` and `plan`: pairs to play and games to plan, from the folder of a rating."""

from __future__ import annotations

import csv
import json
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import valmatch as library
from tests.oracles import joint_pairs
from tests.support.command import refusal, success, valmatch
from tests.support.refusals import defined
from valmatch.draws.streams import Streams
from valmatch.game_logs.next_pairs import caution, read_together
from valmatch.game_logs.options import PlanOptions
from valmatch.game_logs.planning import PlannedGames, _league
from valmatch.kernels.arrays import Floats
from valmatch.policies.joint.batch import Choice, choose_batch
from valmatch.policies.joint.belief import Belief, leader_best, unsure_of
from valmatch.policies.joint.leagues import GAMES, play, play_evenly, run_leagues
from valmatch.policies.registry import JOINT
from valmatch.ratings.bradley_terry.contests import duel_chances
from valmatch.ratings.bradley_terry.dense import new_counts
from valmatch.ratings.bradley_terry.fit import POINTS

NAMES = ["ann", "bob", "cy", "dan", "eve", "=fox"]


def log_of(names: list[str], games: int = 60) -> str:
    """Return a log in which the first ones are the stronger."""
    rng = np.random.default_rng(5)
    lines = ["player_a,player_b,result"]
    for _ in range(games):
        i, j = sorted(rng.choice(len(names), 2, replace=False).tolist())
        result = rng.choice(["1-0", "1/2-1/2", "0-1"], p=[0.55, 0.2, 0.25])
        lines.append(f"{names[i]},{names[j]},{result}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a rating with a prior."""
    folder = tmp_path_factory.mktemp("next")
    (folder / "log.csv").write_text(log_of(NAMES))
    library.rank_games(folder / "log.csv", prior=200.0, out=folder / "rated")
    return folder / "rated"


@pytest.mark.parametrize("policy", JOINT)
def test_the_batch_is_that_of_direct_sums(rated: Path, policy: str) -> None:
    found = library.next_pairs(rated, policy, batch=1)
    known = read_together(rated)
    mean, covariance, nu = known.belief
    values = {
        pair: joint_pairs.value(policy, "best", mean, covariance, nu, pair, known.games)
        for pair in combinations(range(len(NAMES)), 2)
    }
    most = max(values.values())
    best = min(
        (pair for pair, value in values.items() if value >= most - 1e-9 * abs(most)),
        key=lambda pair: (known.games[pair], *(known.names[k] for k in pair)),
    )
    row = found.pairs[0]
    assert (row.player_a, row.player_b) == tuple(known.names[k] for k in best)
    assert row.value == pytest.approx(values[best], rel=1e-9)
    assert row.games == known.games[best]
    lead = joint_pairs.B * (mean[best[0]] - mean[best[1]])
    chances = joint_pairs.chances(np.array([lead]), nu)[:, 0]
    assert row.expected_score == pytest.approx(chances[0] + 0.5 * chances[1])
    assert row.propensity == 1.0


def test_games_of_each_pair_are_those_of_the_log(rated: Path) -> None:
    known = read_together(rated)
    text = (rated.parent / "log.csv").read_text()
    rows = list(csv.DictReader(text.splitlines()))
    for i, j in combinations(range(len(NAMES)), 2):
        both = {known.names[i], known.names[j]}
        assert known.games[i, j] == sum({row["player_a"], row["player_b"]} == both for row in rows)
    assert np.array_equal(known.games, known.games.T)


def test_once_reaches_at_least_half_of_the_most(rated: Path) -> None:
    rng = np.random.default_rng(11)
    for _ in range(20):
        root = rng.normal(size=(6, 6)) * 80.0
        belief = Belief(rng.normal(1500.0, 80.0, 6), root @ root.T, 0.3)
        for policy in ("information", "closeness", "knowledge_gradient"):
            batch = choose_batch(belief, Choice(policy, once=True), size=3)
            players = [*batch.first.tolist(), *batch.second.tolist()]
            assert sorted(players) == list(range(6))
            known = (belief.mean, belief.covariance, 0.3)
            value = {
                pair: joint_pairs.value(policy, "best", *known, pair, np.zeros((6, 6), int))
                for pair in combinations(range(6), 2)
            }
            chosen = [*zip(batch.first.tolist(), batch.second.tolist(), strict=True)]
            assert batch.value == pytest.approx([value[pair] for pair in chosen], rel=1e-9)
            most = max(
                value[a] + value[b] + value[c]
                for a, b, c in combinations(value, 3)
                if len({*a, *b, *c}) == 6
            )
            assert sum(batch.value) >= 0.5 * most
            # No exchange of two pairs gains.
            for one, two in combinations(chosen, 2):
                now = value[one] + value[two]
                for k in (0, 1):
                    first = tuple(sorted((one[0], two[k])))
                    second = tuple(sorted((one[1], two[1 - k])))
                    assert value[first] + value[second] <= now * (1.0 + 1e-8)


def test_explored_pairs_are_as_likely_as_said(rated: Path) -> None:
    known = read_together(rated)
    share, n = 0.4, 4_000
    alone = choose_batch(known.belief, Choice("information"), size=1)
    counts = np.zeros((6, 6))
    for k in range(n):
        how = Choice("information", explore=share, rng_key=Streams(3).place(k))
        batch = choose_batch(known.belief, how, size=1)
        i, j = batch.first[0], batch.second[0]
        counts[i, j] += 1
        own = (i, j) == (alone.first[0], alone.second[0])
        assert batch.propensity[0] == pytest.approx(share / 15 + (1.0 - share) * own)
        lead, error = known.belief.mean[i] - known.belief.mean[j], float(batch.std_error[0])
        value = joint_pairs.told(lead, error, known.belief.draw_weight)
        assert k > 40 or batch.value[0] == pytest.approx(value, abs=1e-9)
    for pair in combinations(range(6), 2):
        own = pair == (alone.first[0], alone.second[0])
        chance = share / 15 + (1.0 - share) * own
        assert abs(counts[pair] / n - chance) <= 4.0 * math.sqrt(chance * (1.0 - chance) / n)


def test_the_chance_of_the_leader_is_that_of_theory() -> None:
    # Of n alike each is the best with chance 1 / n; of two it follows from the difference.
    n, error = 7, math.sqrt(1.0 / 7 * 6.0 / 7 / 100_000)
    alike = Belief(np.zeros(n), 900.0 * np.eye(n))
    assert abs(leader_best(alike, Streams(1)) - 1.0 / n) <= 4.0 * error
    two = Belief(np.array([40.0, 0.0]), np.array([[900.0, 200.0], [200.0, 400.0]]))
    chance = joint_pairs.normal_cdf(40.0 / math.sqrt(900.0))
    found = leader_best(two, Streams(2))
    assert abs(found - chance) <= 4.0 * math.sqrt(chance * (1.0 - chance) / 100_000)
    unsure = unsure_of(two, Streams(2))
    assert unsure.misordered == pytest.approx(1.0 - chance)
    assert unsure.widest == (0, 1)
    assert unsure.widest_error == pytest.approx(30.0)


def test_what_is_unsure_is_that_of_truths_drawn_from_the_belief(rated: Path) -> None:
    belief, draws = read_together(rated).belief, 4_000
    truths = np.random.default_rng(2).multivariate_normal(belief.mean, belief.covariance, draws)
    unsure = unsure_of(belief, Streams(1))
    best = truths.argmax(axis=1) == 0
    wrong = (np.diff(truths, axis=1) > 0.0).sum(axis=1)
    for chance, drawn in ((unsure.leader_best, best), (unsure.misordered, wrong)):
        assert abs(drawn.mean() - chance) <= 4.0 * drawn.std(ddof=1) / math.sqrt(draws)


def test_newcomers_are_known_by_the_prior(rated: Path) -> None:
    known = read_together(rated)
    more = known.with_new(["zoe"])
    place = more.names.index("zoe")
    assert more.belief.mean[place] == pytest.approx(known.belief.mean.mean())
    assert more.belief.covariance[place, place] == pytest.approx(200.0**2)
    assert not np.delete(more.belief.covariance[place], place).any()
    assert (np.diff(more.belief.mean) <= 1e-6).all()
    rows = library.next_pairs(rated, "information", new=["zoe"], batch=1).pairs
    assert "zoe" in (rows[0].player_a, rows[0].player_b)


def test_who_is_not_there_plays_with_nobody(rated: Path, tmp_path: Path) -> None:
    rows = library.next_pairs(rated, "uniform", without=["ann", "bob"], batch=30).pairs
    assert not {"ann", "bob"} & {name for row in rows for name in (row.player_a, row.player_b)}
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("player_a,player_b\neve,ann\ncy, dan\n")
    both = {frozenset(("eve", "ann")), frozenset(("cy", "dan"))}
    once = library.next_pairs(rated, allowed=pairs, batch=5)
    again = library.next_pairs(rated, allowed=pairs, batch=5, repeat=True)
    for result, n in ((once, 2), (again, 5)):
        assert {frozenset((row.player_a, row.player_b)) for row in result.pairs} == both
        assert len(result.pairs) == n
    assert any("repeat" in warning for warning in once.warnings)
    table = repr(again).split("\n\n")[0].splitlines()[1:]
    assert sum(int(row.split()[3]) for row in table[1:]) == 5
    assert len(table) == 1 + len(both)


def test_contenders_are_the_leader_and_whom_he_may_play() -> None:
    belief = Belief(np.array([0.0, 50.0, 40.0, 45.0]), np.diag([900.0, 900.0, 900.0, 100.0]))
    batch = choose_batch(belief, Choice("contenders"), size=1)
    assert (batch.first[0], batch.second[0]) == (1, 3)
    allowed = ~np.eye(4, dtype=np.bool_)
    allowed[1, 3] = allowed[3, 1] = False
    batch = choose_batch(belief, Choice("contenders"), size=1, allowed=allowed)
    assert (batch.first[0], batch.second[0]) == (1, 2)


def _copy(rated: Path, folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Copy the folder of a rating, and return what its posterior holds."""
    for path in rated.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    with np.load(rated / "posterior.npz") as held:
        return dict(held)


def _refused(folder: Path) -> str:
    """Return what all commands that go by a belief say of a folder."""
    (folder / "fixtures.csv").write_text("player_a,player_b\nann,bob\n")
    plan = ("plan", folder, "--half-width", "150", "--replications", "2")
    commands = (("next", folder), plan, ("predict", folder, folder / "fixtures.csv"))
    (said,) = {refusal(*words) for words in commands}
    return said


def test_another_table_than_that_of_the_posterior_is_refused(rated: Path, tmp_path: Path) -> None:
    _copy(rated, tmp_path)
    table = tmp_path / "ratings.csv"
    header, *rows = table.read_text().splitlines(keepends=True)
    table.write_text("".join([header, *rows[::-1]]))
    assert "is not of the players of" in _refused(tmp_path)
    table.write_text("".join([header, *rows[:-1], rows[0]]))
    assert "ratings.csv:7: player: 'ann' is there twice" in valmatch("next", tmp_path).err
    table.write_text("".join([header, *rows[:-1], rows[-1].replace("=fox", "zoe")]))
    assert "is not of the players of" in _refused(tmp_path)


SMALL = ("--players", 4, "--spread", 100, "--half-width", 120, "--replications", 6)


def measured_by(plan: PlannedGames) -> Floats:
    """Return what the leagues of a plan measured_by, which is not in its folder."""
    return defined(plan.measured)


def coverage_z(plan: PlannedGames, level: float) -> float:
    """Return by how many standard errors, of .005 to .02, intervals hold the truth too often."""
    shares = measured_by(plan)[:, -8:, 3].mean(axis=1)
    return float((shares.mean() - level) / shares.std(ddof=1) * math.sqrt(len(shares)))


def in_theory(n: int, width: float, quantile: float = 1.959964) -> float:
    """Return the games of n equals without draws and prior until differences are so well known."""
    return 4.0 * (n - 1) * (quantile / (POINTS * width)) ** 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "width", "level"), [(10, 30.0, 0.95), (4, 20.0, 0.95), (20, 40.0, 0.95), (6, 25.0, 0.8)]
)
def test_equals_take_the_games_of_the_formula(n: int, width: float, level: float) -> None:
    given: dict[str, Any] = {"players": n, "spread": 0.0, "prior": None, "half_width": width}
    found = library.plan_games(**given, level=level, replications=40)
    expected = in_theory(n, width, {0.95: 1.959964, 0.8: 1.281552}[level])
    assert found.games == pytest.approx(expected, rel=0.03)
    assert defined(found.low) <= defined(found.games) <= defined(found.high)
    assert abs(coverage_z(found, level)) < 3.0


@pytest.mark.slow
@pytest.mark.parametrize(("sides", "team", "width"), [(4, 1, 50.0), (3, 2, 70.0)])
def test_equal_sides_take_the_games_of_the_formula(sides: int, team: int, width: float) -> None:
    """An order of k sides says (k - H(k)) / k of each, with H(k) = 1 + 1/2 + ... + 1/k."""
    given: dict[str, Any] = {"players": 8, "spread": 0.0, "prior": None, "half_width": width}
    found = library.plan_games(**given, sides=sides, team=team, replications=8)
    told = sides - sum(1.0 / k for k in range(1, sides + 1))
    assert found.games == pytest.approx(in_theory(8, width) * 0.5 * team / told, rel=0.03)
    assert abs(coverage_z(found, 0.95)) < 3.0


def test_two_sides_of_one_are_duels() -> None:
    given: dict[str, Any] = {"players": 6, "spread": 150.0, "half_width": 60.0}
    settings = PlanOptions(**given)
    duels = _league(settings, None)._replace(grid=np.array([60, 600]))
    sided = duels._replace(sides=(2, 1, settings.prior))
    one, other = (run_leagues(league, range(40))[0] for league in (duels, sided))
    error = np.sqrt((one.var(axis=0, ddof=1) + other.var(axis=0, ddof=1)) / 40)
    assert (np.abs(one.mean(axis=0) - other.mean(axis=0)) < 4.0 * error + 1e-9).all()


@pytest.mark.parametrize("policy", ["uniform", pytest.param("information", marks=pytest.mark.slow)])
def test_workers_make_no_difference(policy: str, tmp_path: Path) -> None:
    files = ("plan.csv", "summary.json")
    for workers in (1, 2):
        given = (*SMALL, "--policy", policy, "--workers", workers)
        success("plan", *given, "--out", tmp_path / str(workers))
    first, second = ([(tmp_path / w / name).read_bytes() for name in files] for w in "12")
    assert first == second


def test_what_cannot_be_reached_is_exit_3() -> None:
    least = ("--players", 3, "--spread", 10, "--half-width", 1, "--max-games", 200)
    given = (*least, "--replications", 3)
    assert "200 games in all do not reach a mean half-width" in valmatch("plan", *given).out
    done = valmatch("plan", *given, "--json")
    found = json.loads(done.out)
    assert (done.code, found["games"], found["low"], found["high"]) == (3, None, None, None)


@pytest.fixture(scope="module")
def rated_four(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rated_four")
    rng, lines = np.random.default_rng(5), ["player_a,player_b,result"]
    for _ in range(60):
        i, j = rng.permutation(4)[:2]
        lines.append(f"p{i},p{j},{rng.choice(['1-0', '0-1', '1/2-1/2'])}")
    (folder / "log.csv").write_text("\n".join([*lines, ""]))
    library.rank_games(folder / "log.csv", prior=200.0, out=folder / "ratings")
    return folder / "ratings"


def test_the_games_of_a_folder_stay(rated_four: Path) -> None:
    """At its first numbers of games a plan knows what the ratings knew."""
    with np.load(rated_four / "posterior.npz") as held:
        covariance = held["covariance"]
    own = np.diag(covariance)
    errors = np.sqrt(own[:, None] + own - 2.0 * covariance)
    width = 1.959964 * errors[np.triu_indices(4, 1)].mean()
    found = library.plan_games(rated_four, half_width=20.0, replications=60)
    widths, games = found.columns()["half_width"], found.grid
    assert width > widths[0] > widths[-1]
    assert widths[0] > 0.8 * width  # ten games more than sixty
    # From there on information grows by as much a game as in even play.
    assert widths[-1] == pytest.approx(width * math.sqrt(60 / (60 + games[-1])), rel=0.1)
    coverage = measured_by(found)[:, :, 3]
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
    means = [measured_by(found)[:, :points, 1].mean(axis=0)[-4:].mean() for found in (even, chosen)]
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
