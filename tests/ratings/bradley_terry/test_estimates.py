"""Ratings of whole logs and who has one: a plain optimiser, the closure of wins, other packages."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import helmert

from tests.oracles import bradley_terry as plain
from tests.oracles.bradley_terry import Game, Side, World
from tests.support.contests import contests_of, duels_of, random_games
from tests.support.refusals import defined
from valmatch.kernels.arrays import Bools, Floats
from valmatch.ratings.bradley_terry import covariance, fit, rating
from valmatch.ratings.bradley_terry.contests import (
    Contests,
    design_of,
    duel_chances,
    link,
    tallies_of,
    terms_at,
)
from valmatch.ratings.bradley_terry.covariance import signs_of
from valmatch.ratings.bradley_terry.dense import (
    Counts,
    fit_counts,
    frame_of,
    frame_of_belief,
    new_counts,
)
from valmatch.ratings.bradley_terry.fit import POINTS, NoEstimate
from valmatch.ratings.bradley_terry.rating import Anchors, Estimate, Model, Uncertainty, rate, refit


def who_is_rated(world: World) -> tuple[list[str], list[bool]]:
    """Return the status of each player, "" of who did not play, and which games are used."""
    games = [game for game in world.games if game.weight > 0.0]
    members = {player for game in games for side in game.sides for player in side.players}
    reached = _closure(world, games)
    rated, used = _part(world, reached, members), games
    while True:
        used = [game for game in used if _players(game) <= rated]
        within = _part(world, _closure(world, used), rated)
        if within == rated:
            break
        rated = within
    start = min(rated)
    statuses = []
    for k in range(world.n_players):
        status = "above" if reached[start, k] else "below" if reached[k, start] else "unlinked"
        statuses.append("rated" if k in rated else status if k in members else "")
    return statuses, [any(game is one for one in used) for game in world.games]


def _players(game: Game) -> set[int]:
    return {player for side in game.sides for player in side.players}


def _closure(world: World, games: Sequence[Game]) -> Bools:
    """Return who is reached from whom, from each loser to each winner, by any number of games."""
    found = np.eye(world.n_players, dtype=np.bool_)
    found[np.ix_(list(world.anchors), list(world.anchors))] = True
    for game in games:
        for worse in game.sides:
            for better in game.sides:
                if worse is not better and worse.score <= better.score:
                    found[np.ix_(list(worse.players), list(better.players))] = True
    for k in range(world.n_players):
        found |= np.outer(found[:, k], found[k])
    return found


def _part(world: World, reached: Bools, among: Collection[int]) -> set[int]:
    """Return the part that is rated: the anchors', or the largest, heaviest, first by name."""
    parts = [{b for b in among if reached[a, b] and reached[b, a]} for a in sorted(among)]
    if world.anchors:
        return next(part for part in parts if part & set(world.anchors))

    def rank(part: set[int]) -> tuple[int, float, int]:
        weight = sum(game.weight for game in world.games if _players(game) & part)
        return len(part), weight, -min(part)

    return max(parts, key=rank)


def sure_of(estimate: Estimate, sandwich: bool, draws: np.random.Generator) -> Uncertainty:
    """Return how sure an estimate is; of the model only its anchors and its mean count before."""
    return Model().uncertainty(estimate, sandwich, draws)


def rated(world: World, draws: str = "") -> Estimate:
    """Rate the players of a world."""
    known = sorted((k, *what) for k, what in world.anchors.items())
    columns = list(zip(*known, strict=True)) or [(), (), ()]
    means, deviations = (np.array(column, float) for column in columns[1:])
    anchors = Anchors(np.array(columns[0], int), means, deviations)
    contests = contests_of(world)
    model = Model(draws, anchors, world.prior)
    return rate(design_of(contests), model)


def log(seed: int, **shape: Any) -> list[Game]:  # noqa: ANN401
    """Return a random log of six players, in which everybody has won and lost."""
    return random_games(np.random.default_rng(seed), **shape)


NOBODY = np.zeros(0, np.int64)

WORLDS = {
    "draws": World(log(1), 6, davidson=True),
    "halves": World(log(2), 6),
    "prior": World(log(3), 6, davidson=True, prior=150.0),
    "home": World(log(4, features=1), 6, 1, davidson=True),
    "covariates of teams": World(log(5, team=3, features=2), 6, 2, davidson=True, prior=90.0),
    "orders": World(log(6, kinds=(3, 4, 5), draws=0.6), 6),
    "all together": World(
        log(7, kinds=(2, 3), team=2, draws=0.5, features=1), 6, 1, davidson=True, prior=200.0
    ),
    "anchors": World(
        log(8), 6, davidson=True, prior=120.0, anchors={1: (1700.0, 0.0), 4: (1500.0, 60.0)}
    ),
    "loose anchors": World(log(9), 6, anchors={0: (1400.0, 80.0), 3: (1650.0, 30.0)}),
    "fixed anchors": World(log(10), 6, davidson=True, anchors={0: (1400.0, 0.0), 5: (1650.0, 0.0)}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_estimates_and_covariance_are_those_of_a_plain_optimiser(name: str) -> None:
    world = WORLDS[name]
    estimate = rated(world, "" if world.davidson else "half")
    best = plain.maximum(world)
    n = world.n_players
    np.testing.assert_allclose(estimate.ratings, best[:n], atol=2e-4)
    np.testing.assert_allclose(estimate.coefficients, best[n : n + world.n_features], atol=2e-4)
    if world.davidson:
        assert np.log(estimate.draw_weight) == pytest.approx(best[-1], abs=1e-6)
    for sandwich in (False, True):
        spread = plain.covariance(world, best, sandwich)
        sure = sure_of(estimate, sandwich, np.random.default_rng(1))
        assert sure.covariance is not None
        np.testing.assert_allclose(sure.covariance, spread[:n, :n], rtol=1e-4, atol=1e-2)
        members = np.sqrt(np.diag(spread))[n : n + world.n_features]
        np.testing.assert_allclose(sure.coefficients, members, rtol=1e-4)
        if world.davidson:
            assert sure.log_draw_weight == pytest.approx(np.sqrt(spread[-1, -1]), rel=1e-4)


def duel(a: int, b: int, score: float, weight: float = 1.0) -> Game:
    """Return a game of two players by the score of the first."""
    return Game([Side([a], score), Side([b], 1.0 - score)], weight)


def leads_round(world: World, draw: float) -> bool:
    """Return whether some circle of wins, each 1, and draws adds up to more than 0 (Floyd)."""
    n = world.n_players
    longest = np.full((n, n), -np.inf)
    for game in world.games:
        (a, b), lead = (side.players[0] for side in game.sides), game.sides[0].score
        for tail, head, score in ((a, b, lead), (b, a, 1.0 - lead)):
            step = {0.0: -np.inf, 0.5: draw, 1.0: 1.0}[score]
            longest[tail, head] = max(longest[tail, head], step)
    for k in range(n):
        longest = np.maximum(longest, longest[:, [k]] + longest[k])
    return bool((np.diag(longest) > 0.0).any())


def test_draws_have_a_weight_where_some_circle_has_more_wins_than_draws() -> None:
    """Otherwise places in steps of at least 1 a win and at most 1 a draw make nu grow forever."""
    rng, counts = np.random.default_rng(62), {"separated": 0, "no circle of wins": 0}
    for _ in range(120):
        n = int(rng.integers(3, 7))
        pairs = [rng.permutation(n)[:2].tolist() for _ in range(rng.integers(n, 2 * n))]
        drawn = rng.random(len(pairs)) < 0.5
        drawn[0] = True
        games = [duel(a, b, 0.5 if d else 1.0) for (a, b), d in zip(pairs, drawn, strict=True)]
        world = World(games, n, davidson=True)
        contests = contests_of(world)
        if not link(contests, contests.weights, NOBODY, False).rated.all():
            continue
        if not leads_round(world, draw=-1.0):
            counts["separated"] += 1
            with pytest.raises(NoEstimate) as error:
                rated(world)
            assert error.value.separated
            assert error.value.parameters.tolist() == [n]
            continue
        estimate = rated(world)
        if not leads_round(world, draw=-np.inf):
            counts["no circle of wins"] += 1
            best = plain.maximum(world)
            np.testing.assert_allclose(estimate.ratings, best[:n], atol=2e-3)
            assert np.log(estimate.draw_weight) == pytest.approx(best[-1], abs=1e-5)
    assert min(counts.values()) >= 5, counts


def test_a_draw_of_two_sides_does_not_bound_who_only_meet_in_orders() -> None:
    """Wins in a circle of orders say nothing of the weight of draws."""
    orders = [
        Game([Side([k], float(score)) for score, k in enumerate(np.roll([0, 1, 2], turn))])
        for turn in range(3)
    ]
    with pytest.raises(NoEstimate) as error:
        rated(World([*orders, duel(0, 1, 0.5), duel(1, 2, 0.5)], 3))
    assert error.value.parameters[0] == 3


def test_a_side_at_home_that_always_wins_is_separated() -> None:
    games = [
        Game([Side([a], 1.0, [1.0]), Side([b], 0.0, [0.0])])
        for a, b in ((0, 1), (1, 0), (1, 2), (2, 1))
    ]
    with pytest.raises(NoEstimate) as error:
        rated(World(games, 3, 1))
    assert error.value.separated
    assert error.value.parameters[0] == 3


def test_two_who_always_play_together_are_not_told_apart() -> None:
    sides = ([0, 1], [2], 1.0), ([2], [0, 1], 1.0), ([2], [3], 1.0), ([3], [2], 1.0)
    games = [Game([Side(a, s), Side(b, 1.0 - s)]) for a, b, s in sides]
    with pytest.raises(NoEstimate) as error:
        rated(World(games, 4))
    assert not error.value.separated
    assert sorted(error.value.parameters.tolist()) == [0, 1]


@pytest.mark.parametrize("name", WORLDS)
def test_sparse_and_dense_solutions_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = WORLDS[name]
    draws = "" if world.davidson else "half"
    dense = rated(world, draws)
    monkeypatch.setattr(fit, "DENSE", 0)
    estimate = rated(world, draws)
    np.testing.assert_allclose(estimate.ratings, dense.ratings, atol=1e-6)
    np.testing.assert_allclose(estimate.coefficients, dense.coefficients, atol=1e-6)
    assert estimate.draw_weight == pytest.approx(dense.draw_weight, rel=1e-8)
    for sandwich in (False, True):
        exact = sure_of(dense, sandwich, np.random.default_rng(1))
        with monkeypatch.context() as patched:
            patched.setattr(covariance, "DENSE", 0)
            by_parts = sure_of(estimate, sandwich, np.random.default_rng(1)).covariance
        assert by_parts == pytest.approx(exact.covariance, rel=1e-6, abs=1e-6)
        with monkeypatch.context() as patched:
            patched.setattr(rating, "DENSE_COVARIANCE", 0)
            sampled = sure_of(estimate, sandwich, np.random.default_rng(1))
        assert sampled.covariance is None
        # Of 1,000 draws a variance is known to 4.5%, a standard error to 2.3%.
        np.testing.assert_allclose(sampled.std_errors, exact.std_errors, rtol=0.1)
        np.testing.assert_allclose(sampled.coefficients, exact.coefficients, rtol=0.1)
        assert sampled.log_draw_weight == pytest.approx(exact.log_draw_weight, rel=0.1)


def test_signs_are_even_and_of_every_size() -> None:
    """10^5 signs of mean 0 have a mean within 4 standard errors of .0032."""
    draws = np.random.Generator(np.random.Philox(1))
    signs = signs_of(draws, 5_000, 20)
    assert signs.shape == (5_000, 20)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.mean()) < 4 * 0.0032
    products = signs.T @ signs / 5_000 - np.eye(20)
    assert np.abs(products).max() < 5 / np.sqrt(5_000)
    assert [signs_of(draws, rows, 3).shape for rows in (0, 1, 9)] == [(0, 3), (1, 3), (9, 3)]


@pytest.mark.parametrize(
    ("seed", "players"), [(3, 1000), pytest.param(4, 2000, marks=pytest.mark.slow)]
)
def test_refits_of_few_games_a_player_end_where_nothing_is_to_gain(seed: int, players: int) -> None:
    rng = np.random.default_rng(seed)
    strengths = rng.normal(0.0, 300.0, players) / 173.7
    a = rng.integers(players, size=3 * players)
    b = (a + 1 + rng.integers(players - 1, size=len(a))) % players
    won = rng.random(len(a)) < 1.0 / (1.0 + np.exp(strengths[b] - strengths[a]))
    pairs = zip(a.tolist(), b.tolist(), won.tolist(), strict=True)
    contests = contests_of(World([duel(i, j, float(s)) for i, j, s in pairs], players))
    design, model = design_of(contests), Model()
    estimate = rate(design, model)
    rng = np.random.default_rng(seed)
    for _ in range(3):  # steps of Newton's method alone would end far outside in some
        times = np.bincount(rng.integers(len(a), size=len(a)), minlength=len(a))
        weights = np.where(estimate.linked.games, 1.0 * times, 0.0)
        _, low, high = refit(design, model, estimate, weights)
        rated = np.isfinite(low) & np.isfinite(high)
        assert rated.sum() > 30
        linked = link(contests, weights, model.anchors.players, all_rated=False)
        assert (rated == linked.rated).all()
        ratings = np.where(rated, low, 0.0)
        lead = POINTS * (ratings[a] - ratings[b])
        left = np.where(linked.games, weights * (won - 1.0 / (1.0 + np.exp(-lead))), 0.0)
        slopes = np.bincount(a, left, players) - np.bincount(b, left, players)
        assert np.abs(slopes).max() < 1e-6


def test_without_a_weight_of_draws_terms_are_the_limit_of_a_small_one() -> None:
    contests = contests_of(WORLDS["halves"])
    design = design_of(contests)
    tallies = tallies_of(design, contests.weights)
    point = np.linspace(-1.0, 1.0, design.leads.shape[1])
    none, little = (terms_at(design, tallies, point, log_nu) for log_nu in (-np.inf, -600.0))
    assert tallies.draws.any()
    np.testing.assert_allclose(none.slopes, little.slopes, rtol=1e-13, atol=0.0)
    np.testing.assert_allclose(none.curvature, little.curvature, rtol=1e-13, atol=0.0)
    assert not none.crossed.any()
    drawn = float(tallies.draws.sum()) * -600.0
    assert none.value == pytest.approx(little.value - drawn, rel=1e-9)


def linked_world(seed: int) -> World:
    """Return a few games of one or two a side, some of several sides, some of weight 0."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    games = []
    for _ in range(int(rng.integers(1, 14))):
        size = int(rng.integers(1, 3)) if n >= 4 else 1
        n_sides = int(rng.integers(2, min(4, n // size) + 1))
        players = rng.permutation(n)[: n_sides * size].reshape(n_sides, size).tolist()
        sides = [Side(members, float(rng.integers(3))) for members in players]
        games.append(Game(sides, float(rng.choice([0.0, 1.0, 1.0, 2.5]))))
    games.append(Game([Side([0], 1.0), Side([1], 0.0)]))
    played = sorted({p for g in games if g.weight for side in g.sides for p in side.players})
    known = rng.choice(played, int(rng.integers(0, 3)) * int(rng.integers(2)), replace=False)
    return World(games, n, anchors={int(player): (1500.0, 0.0) for player in known})


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_links_are_those_of_the_closure(start: int) -> None:
    seen = set()
    for seed in range(start, start + 100):
        drawn = linked_world(seed)
        contests = contests_of(drawn)
        anchors = np.array(sorted(drawn.anchors), np.int64)
        linked = link(contests, contests.weights, anchors, all_rated=False)
        statuses, used = who_is_rated(drawn)
        assert linked.statuses == statuses, seed
        assert linked.games.tolist() == used, seed
        seen |= {*statuses}
    assert seen == {"", "rated", "above", "below", "unlinked"}


N = 6


def ratings_of(games: list[Game]) -> Floats:
    """Return our ratings, draws as halves of wins."""
    return rated(World(games, N), "half").ratings


def in_points(strengths: Floats) -> Floats:
    """Return logarithms of strengths as ratings with the mean 1500."""
    ratings: Floats = 1500.0 + (strengths - strengths.mean()) / POINTS
    return ratings


def duels(seed: int, draws: float) -> list[Game]:
    """Return a log in which everybody plays everybody, and may draw."""
    rng = np.random.default_rng(seed)
    games = []
    for _ in range(90):
        a, b = rng.choice(N, 2, replace=False).tolist()
        drawn, won = rng.random() < draws, rng.random() < 1.0 / (1.0 + np.exp(0.4 * (a - b)))
        games.append(duel(a, b, 0.5 if drawn else float(won)))
    return games


@pytest.mark.parametrize("draws", [0.0, 0.3])
def test_choix_finds_the_same_ratings_of_duels(draws: float) -> None:
    choix = pytest.importorskip("choix", reason="needs the package choix")
    for seed in range(5):
        games = duels(seed, draws)
        pairs = []  # each game twice, so that a draw is a win of each
        for game in games:
            a, b = (side.players[0] for side in game.sides)
            first_won, second_won = (a, b), (b, a)
            times = round(2 * game.sides[0].score)
            pairs += times * [first_won] + (2 - times) * [second_won]
        ratings = choix.ilsr_pairwise(N, pairs, tol=1e-13, max_iter=1000)
        np.testing.assert_allclose(ratings_of(games), in_points(ratings), rtol=0.0, atol=1e-6)


def test_choix_finds_the_same_ratings_of_orders() -> None:
    choix = pytest.importorskip("choix", reason="needs the package choix")
    for seed in range(5):
        games = [
            Game([Side(side.players, side.score) for side in game.sides])
            for game in log(seed, kinds=(2, 3, 4, 5), draws=0.0)
        ]
        orders = [
            [side.players[0] for side in sorted(game.sides, key=lambda ranked: -ranked.score)]
            for game in games
        ]
        ratings = choix.ilsr_rankings(N, orders, tol=1e-13, max_iter=1000)
        np.testing.assert_allclose(ratings_of(games), in_points(ratings), rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("draws", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_evalica_finds_the_same_ratings_of_duels(draws: float, weighted: bool) -> None:
    evalica = pytest.importorskip("evalica", reason="needs the package evalica")
    winners = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
    for seed in range(5):
        games = duels(seed, draws)
        if weighted:
            weights = np.random.default_rng(seed).uniform(0.2, 3.0, len(games)).tolist()
            games = [
                replace(game, weight=weight) for game, weight in zip(games, weights, strict=True)
            ]
        firsts, seconds = ([g.sides[k].players[0] for g in games] for k in (0, 1))
        ratings = evalica.bradley_terry(
            *(firsts, seconds, [winners[game.sides[0].score] for game in games]),
            weights=[game.weight for game in games],
            tolerance=1e-12,
            limit=1000,
        )
        strengths = np.log(ratings.scores.sort_index().to_numpy())
        np.testing.assert_allclose(ratings_of(games), in_points(strengths), rtol=0.0, atol=1e-6)


def played(n: int, games: int, nu: float, home: float, seed: int) -> tuple[Counts, Contests]:
    """Return games of random pairs as counts and one by one."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0.0, 150.0 * POINTS, n)
    counts, points, players = new_counts(n), [], []
    for _ in range(games):
        i, j = rng.permutation(n)[:2]
        lead = np.array([truth[i] - truth[j] + home * POINTS])
        chances = duel_chances(lead, math.log(nu) if nu else -math.inf)
        drawn = float(rng.random())
        result = int(drawn > chances.first[0]) + int(drawn > 1.0 - chances.second[0])
        (counts.won, counts.drawn, counts.lost)[result][i, j] += 1.0
        points += [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]][result]
        players += [i, j]
    return counts, duels_of(n, players, points, home=home != 0.0)


def shipped(contests: Contests, model: Model) -> tuple[Floats, Floats, Floats] | None:
    """Return ratings, covariance and coefficients by the shipped fit; None without all of them."""
    try:
        basis = rate(design_of(contests), model)
    except NoEstimate:
        return None
    if not basis.linked.rated.all():
        return None
    sure = model.uncertainty(basis, False, np.random.default_rng(0))
    assert sure.covariance is not None
    return basis.ratings, sure.covariance, np.append(basis.coefficients, basis.draw_weight)


@pytest.mark.parametrize("prior", [None, 80.0, 350.0])
@pytest.mark.parametrize(("nu", "home"), [(0.0, 0.0), (0.8, 0.0), (0.0, 60.0), (0.8, 60.0)])
def test_it_is_the_shipped_fit(prior: float | None, nu: float, home: float) -> None:
    fitted = 0
    for seed in range(12):
        n = 3 + seed % 5
        counts, contests = played(n, 4 * n + 9 * seed, nu, home, seed)
        expected = shipped(contests, Model(prior=prior))
        frame = frame_of(n, prior, home > 0.0, nu > 0.0)
        fitted_counts = fit_counts(counts, frame)
        assert (fitted_counts is None) == (expected is None)
        if fitted_counts is None or expected is None:
            continue
        fitted += 1
        ratings, covariance, coefficients = expected
        _, log_odds, spread = fitted_counts
        strengths = log_odds[:n] / POINTS
        assert strengths - strengths.mean() == pytest.approx(ratings - ratings.mean(), abs=2e-5)
        assert spread / POINTS**2 == pytest.approx(covariance, rel=1e-5, abs=1e-5)
        if home:
            assert log_odds[n] / POINTS == pytest.approx(coefficients[0], abs=2e-5)
        assert math.exp(log_odds[n + 1]) == pytest.approx(coefficients[-1], rel=1e-6)
    assert fitted >= 5


def test_it_goes_on_from_an_earlier_estimate() -> None:
    few, _ = played(5, 60, 0.5, 0.0, 1)
    more, _ = played(5, 90, 0.5, 0.0, 2)
    frame = frame_of(5, 350.0, False, True)
    going = fit_counts(more, frame, defined(fit_counts(few, frame)))
    assert defined(going).log_odds == pytest.approx(
        defined(fit_counts(more, frame)).log_odds, abs=1e-9
    )


@pytest.mark.parametrize(
    ("won", "drawn"),
    [
        ([(0, 1), (1, 2)], []),  # nobody beats 0
        ([(0, 1), (1, 0)], []),  # 2 has not played
        ([(0, 1), (1, 2)], [(0, 1), (1, 2)]),  # ratings and the weight of draws run off
        ([], [(0, 1), (1, 2)]),
    ],
)
def test_there_is_no_estimate(won: list[tuple[int, int]], drawn: list[tuple[int, int]]) -> None:
    counts = new_counts(3)
    for pair in won:
        counts.won[pair] += 1.0
    for pair in drawn:
        counts.drawn[pair] += 1.0
    frame = frame_of(3, None, False, bool(drawn))
    assert fit_counts(counts, frame) is None


def test_a_belief_without_games_is_itself_and_with_games_adds_their_information() -> None:
    rng = np.random.default_rng(4)
    root = helmert(4).T @ rng.normal(0.0, 60.0, (3, 3))
    covariance = root @ root.T
    mean = np.array([100.0, 30.0, -40.0, -90.0])
    frame = frame_of_belief(mean, covariance, 0.0)
    space = defined(fit_counts(new_counts(4), frame))
    assert space.log_odds[:4] / POINTS == pytest.approx(mean)
    assert space.covariance / POINTS**2 == pytest.approx(covariance, abs=1e-6)
    counts = new_counts(4)
    counts.won[0, 1] = counts.lost[0, 1] = 50.0
    space = defined(fit_counts(counts, frame, space))
    lead = (space.log_odds[0] - space.log_odds[1]) / POINTS
    assert 0.0 < lead < 70.0
    v, e = np.linalg.pinv(covariance), np.array([1.0, -1.0, 0.0, 0.0])
    p = 1.0 / (1.0 + math.exp(-POINTS * lead))
    expected = np.linalg.pinv(v + 100.0 * POINTS**2 * p * (1.0 - p) * np.outer(e, e))
    assert space.covariance / POINTS**2 == pytest.approx(expected, rel=1e-6, abs=1e-6)
