"""`next`: pairs to play, from the folder of a rating; and what is refused."""

from __future__ import annotations

import csv
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import valmatch
from tests.oracles import joint_pairs
from tests.support.command import refusal
from tests.support.command import valmatch as command
from valmatch.draws.streams import Streams
from valmatch.game_logs.next_pairs import caution, leader_best, measured, read_together, unsure_of
from valmatch.policies.joint.batch import choose_batch
from valmatch.policies.joint.belief import Belief
from valmatch.policies.registry import JOINT

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
    valmatch.rank_games(folder / "log.csv", prior=200.0, out=folder / "rated")
    return folder / "rated"


@pytest.mark.parametrize("policy", JOINT)
def test_the_batch_is_that_of_direct_sums(rated: Path, policy: str) -> None:
    found = valmatch.next_pairs(rated, policy, batch=1)
    known = read_together(rated)
    mean, covariance, nu, _ = known.belief
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
            batch = choose_batch(belief, policy, size=3, once=True)
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
    alone = choose_batch(known.belief, "information", size=1)
    counts = np.zeros((6, 6))
    for k in range(n):
        given: dict[str, Any] = {"explore": share, "streams": Streams(3), "replication": k}
        batch = choose_batch(known.belief, "information", size=1, **given)
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
    rows = valmatch.next_pairs(rated, "information", new=["zoe"], batch=1).pairs
    assert "zoe" in (rows[0].player_a, rows[0].player_b)


def test_who_is_not_there_plays_with_nobody(rated: Path, tmp_path: Path) -> None:
    rows = valmatch.next_pairs(rated, "uniform", without=["ann", "bob"], batch=30).pairs
    assert not {"ann", "bob"} & {name for row in rows for name in (row.player_a, row.player_b)}
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("player_a,player_b\neve,ann\ncy, dan\n")
    rows = valmatch.next_pairs(rated, allowed=pairs, batch=5).pairs
    both = {frozenset(("eve", "ann")), frozenset(("cy", "dan"))}
    assert {frozenset((row.player_a, row.player_b)) for row in rows} <= both


def test_contenders_are_the_leader_and_whom_he_may_play() -> None:
    belief = Belief(np.array([0.0, 50.0, 40.0, 45.0]), np.diag([900.0, 900.0, 900.0, 100.0]))
    batch = choose_batch(belief, "contenders", size=1)
    assert (batch.first[0], batch.second[0]) == (1, 3)
    allowed = ~np.eye(4, dtype=np.bool_)
    allowed[1, 3] = allowed[3, 1] = False
    batch = choose_batch(belief, "contenders", size=1, allowed=allowed)
    assert (batch.first[0], batch.second[0]) == (1, 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mean", np.full(6, math.nan)),
        ("covariance", np.eye(5)),
        ("names", np.array("x")),
        ("pairs", np.array([[0, 6]])),
        ("games", np.array(1.0)),
    ],
)
def test_a_damaged_posterior_is_refused(
    rated: Path, tmp_path: Path, name: str, value: np.ndarray[Any, Any]
) -> None:
    arrays = _copy(rated, tmp_path)
    held: dict[str, Any] = arrays | {name: value}
    np.savez(tmp_path / "posterior.npz", **held)
    assert f"posterior.npz: damaged: {name}: not those of the players" in _refused(tmp_path)


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


def test_what_is_no_covariance_is_refused(rated: Path, tmp_path: Path) -> None:
    held: dict[str, Any] = _copy(rated, tmp_path) | {"covariance": 3.0 * np.eye(6) - 1.0}
    np.savez(tmp_path / "posterior.npz", **held)
    assert "covariance: not positive semidefinite" in refusal("next", tmp_path)


def test_another_table_than_that_of_the_posterior_is_refused(rated: Path, tmp_path: Path) -> None:
    _copy(rated, tmp_path)
    table = tmp_path / "ratings.csv"
    header, *rows = table.read_text().splitlines(keepends=True)
    table.write_text("".join([header, *rows[::-1]]))
    assert "is not of the players of" in _refused(tmp_path)
    table.write_text("".join([header, *rows[:-1], rows[0]]))
    assert "ratings.csv:7: player: 'ann' is there twice" in command("next", tmp_path).err
    table.write_text("".join([header, *rows[:-1], rows[-1].replace("=fox", "zoe")]))
    assert "is not of the players of" in _refused(tmp_path)


def test_what_choosing_does_is_from_the_table() -> None:
    for (policy, goal), row in measured().items():
        assert f"{float(row['leader_covered']):.0%}" in caution(policy, goal)
        assert policy in JOINT
    assert "has not been measured" in caution("uniform", "best")
