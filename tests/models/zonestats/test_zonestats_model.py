"""The zonestats model: its factors, its random inputs, its games, and what the commands write."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare, spearmanr

from tests.models.test_model import RULES
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import Recorded, record, run
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Record, row_of
from valmatch.models.zonestats.factors import ZoneStatsFactors
from valmatch.models.zonestats.model import ZoneStatsModel

SMALL = {"n_players": 12, "games_per_player": 6}
SHORT = {"latest_join": 0.7, "early_chance": 1.0, "MAX_GAME_LENGTH": 7.0}
KINDS: list[dict[str, Any]] = [
    *({"error_bound": bound, "GAME_MULT": 4.0} for bound in (1e-3, 30.0, 60.0, 90.0, 1000.0)),
    {"n_teams": 2, "team_size": 3, "tie_chance": 0.3},
    {"n_teams": 5, "late_chance": 1.0, "early_chance": 1.0, "earliest_leave": 0.5},
    {"n_teams": 3, "team_size": 2, "compare": "score", "T": 60.0, "MAX_GAME_LENGTH": 7.0},
    {"n_teams": 6, "cap": "every_player", "game_minutes": 30.0},
    {"n_teams": 5, "contest_time": "joint", "late_chance": 0.8, "early_chance": 0.8},
    {"n_teams": 3, "team_size": 2, "contest_time": "joint", "late_chance": 1.0, **SHORT},
    {"n_players": 11, "n_teams": 3, "game_minutes": 45.0, "late_chance": 0.0, "latest_join": 0.3},
]
SOME_RATED: list[dict[str, Any]] = [
    {"n_teams": 2, "team_size": 3, "enabled_share": 0.5, "tie_chance": 0.3},
    {"n_teams": 5, "enabled_share": 0.75, "cap": "every_player", "game_minutes": 30.0},
    {"n_teams": 6, "enabled_share": 0.5, "contest_time": "joint", "late_chance": 0.8},
]


def model(**changes: Any) -> ZoneStatsModel:  # noqa: ANN401
    return ZoneStatsModel(ZoneStatsFactors(**changes))


def recorded(changes: dict[str, Any], seed: int = 1) -> tuple[ZoneStatsModel, Recorded]:
    study = model(**changes)
    return study, record(study, seed, 0)


def columns(full: Record | Recorded, table: int) -> dict[str, Any]:
    return {name: np.array(column) for name, column in full.tables[table].columns.items()}


def named(responses: Any) -> dict[str, float]:  # noqa: ANN401
    names = [response.name for response in ZoneStatsModel.responses]
    return dict(zip(names, responses.tolist(), strict=True))


def within(sample: Any, mean: float) -> None:  # noqa: ANN401
    """Check the mean of independent values by its standard error."""
    error = np.std(sample, ddof=1) / math.sqrt(np.size(sample))
    assert error > 0
    assert abs(np.mean(sample) - mean) <= 4 * error


def test_every_pair_of_players_is_equally_likely_to_meet() -> None:
    _, full = recorded({"n_players": 6, "games_per_player": 5000})
    players = columns(full, 1)["player"].reshape(-1, 2)
    counts = np.zeros((6, 6))
    np.add.at(counts, (players[:, 0], players[:, 1]), 1)
    assert np.all(np.diag(counts) == 0)
    assert chisquare(counts[~np.eye(6, dtype=bool)]).pvalue > 1e-4


def test_presence_follows_its_factors() -> None:
    changes = {"late_chance": 0.3, "latest_join": 0.8, "early_chance": 0.4, "earliest_leave": 0.2}
    _, full = recorded({**changes, "game_minutes": 50.0, "games_per_player": 400}, seed=5)
    shares = columns(full, 1)["minutes"] / 50
    assert np.all((shares > 0.04 - 1e-12) & (shares <= 1))
    within(shares == 1, 0.7 * 0.6)
    within(shares, (1 - 0.3 * 0.4) * (1 - 0.4 * 0.4))  # joining and leaving are independent
    joined = 0.7 + 0.3 * (1 - 0.2**3) / (3 * 0.8)  # mean square of the share that is left
    stayed = 0.6 + 0.4 * (1 - 0.2**3) / (3 * 0.8)
    within(shares**2, joined * stayed)


@pytest.mark.parametrize("n_teams", [2, 4])
def test_pairwise_outcomes_are_logistic_in_the_skills(n_teams: int) -> None:
    residuals: dict[int, list[float]] = {band: [] for band in range(5)}
    changes = {"n_teams": n_teams, "true_spread": 70.0, "games_per_player": 300}
    _, full = recorded(changes, seed=2)
    skill, games = columns(full, 0)["skill"], columns(full, 1)
    players = games["player"].reshape(-1, n_teams)
    rates = (games["score"] / games["minutes"]).reshape(-1, n_teams)
    for i, j in [(0, 1)] if n_teams == 2 else [(0, 1), (2, 3), (0, 3)]:
        lead = (skill[players[:, i]] - skill[players[:, j]]) / 70
        p = 1 / (1 + np.exp(-lead))
        for band, low in enumerate((-np.inf, -2, -0.5, 0.5, 2)):
            high = (-2, -0.5, 0.5, 2, np.inf)[band]
            inside = (lead > low) & (lead <= high)
            residuals[band] += ((rates[:, i] > rates[:, j]) - p)[inside].tolist()
    for sample in residuals.values():
        assert len(sample) > 500
        within(sample, 0)


def test_ties_are_as_frequent_as_their_chance() -> None:
    _, full = recorded({"tie_chance": 0.25, "games_per_player": 300, "team_size": 2})
    scores = columns(full, 1)["score"].reshape(-1, 4)
    tied = np.all(scores == 0, axis=1)
    assert np.array_equal(tied, np.any(scores == 0, axis=1))
    within(tied, 0.25)


def test_raw_scores_favour_whoever_stays_and_scores_per_hour_do_not() -> None:
    for compare, fair in (("score_per_hour", True), ("score", False)):
        _, full = recorded({"compare": compare, "games_per_player": 300, "skill_std": 0.001})
        games = columns(full, 1)
        minutes, gain = (games[name].reshape(-1, 2) for name in ("minutes", "adjustment"))
        longer = minutes[:, 0] > minutes[:, 1]
        wins = (gain[:, 0] > 0)[longer]
        if fair:
            within(wins, 0.5)
        else:
            assert wins.mean() - 0.5 > 10 * wins.std() / math.sqrt(wins.size)


def when_joined(factors: ZoneStatsFactors, uniforms: Floats) -> Floats:
    """Return the minute of the game at which each player joined."""
    if factors.late_chance == 0.0:
        return np.zeros_like(uniforms)
    late = uniforms / factors.late_chance * factors.latest_join * factors.game_minutes
    return np.where(uniforms < factors.late_chance, late, 0.0)


@pytest.mark.parametrize("changes", [*KINDS, *SOME_RATED])
def test_responses_are_those_of_a_plain_replay(changes: dict[str, Any]) -> None:
    study, full = recorded({**SMALL, **changes}, seed=3)
    factors = ZoneStatsFactors(**{**SMALL, **changes})
    players, games = columns(full, 0), columns(full, 1)
    joined = when_joined(factors, study.draw(Streams(3), 0).joins)
    skill, n = players["skill"], factors.n_players
    rating = np.full(n, factors.initial_rating)
    rated = round(factors.enabled_share * n)
    rating[rated:] = math.nan
    seats = factors.n_teams * factors.team_size
    count = math.ceil(n * factors.games_per_player / seats)
    assert games["game"].tolist() == [g for g in range(count) for _ in range(seats)]
    losses: list[list[float]] = [[] for _ in range(factors.games_per_player)]
    known: list[list[float]] = [[] for _ in losses]
    hits: list[list[float]] = [[] for _ in losses]
    errors = [np.std(rating[:rated] - skill[:rated])]
    for g in range(count):
        everyone = np.arange(g * seats, (g + 1) * seats)
        enabled = games["player"][everyone] < rated
        assert len(set(games["player"][everyone].tolist())) == seats
        assert np.array_equal(games["enabled"][everyone], enabled)
        for name in ("rating", "adjustment", "rating_offset", "scale", "capped", "rank_after"):
            assert np.isnan(games[name][everyone[~enabled]]).all()
        rows = everyone[enabled]
        who, team = games["player"][rows], games["team"][rows]
        score, minutes = games["score"][rows], games["minutes"][rows]
        came = joined[g, enabled]
        went = came + minutes
        assert np.array_equal(games["rating"][rows], rating[who])
        shown = 60 * score / minutes if factors.compare == "score_per_hour" else score
        offsets = np.zeros(len(who))
        for i, j in combinations(range(len(who)), 2):
            if team[i] == team[j]:
                continue
            outcome = (np.sign(shown[i] - shown[j]) + 1) / 2
            p = 1 / (1 + math.exp((rating[who[j]] - rating[who[i]]) / factors.T))
            q = 1 / (1 + math.exp((skill[who[j]] - skill[who[i]]) / factors.true_spread))
            for sample, chance in ((losses, p), (known, q)):
                loss = -outcome * math.log(chance) - (1 - outcome) * math.log(1 - chance)
                sample[g * seats // n].append(loss)
            hits[g * seats // n].append(0.5 if p == 0.5 else outcome if p > 0.5 else 1 - outcome)
            time = min(factors.MAX_GAME_LENGTH, minutes[i], minutes[j])
            if factors.contest_time == "joint":
                together = min(went[i], went[j]) - max(came[i], came[j])
                assert together <= min(minutes[i], minutes[j]) + 1e-9
                time = min(time, max(together, 0.0))
            points = (outcome - p) * factors.GAME_MULT * time
            offsets[i] += points
            offsets[j] -= points
        before_cap = offsets.copy()
        far = np.abs(offsets).max(initial=0.0)
        if factors.cap == "every_player":
            limits = factors.GAME_MULT * np.minimum(minutes, factors.MAX_GAME_LENGTH)
            offsets *= min(1.0, 1.0, *(limits / np.maximum(np.abs(offsets), 1e-300)))
        elif far > 0:
            cap = minutes[np.abs(offsets) >= far * (1 - 1e-12)].min() * factors.GAME_MULT
            offsets *= min(1.0, cap / far)
        assert offsets == pytest.approx(games["adjustment"][rows], abs=1e-9)
        assert games["rating_offset"][rows] == pytest.approx(before_cap, abs=1e-9)
        scaled = games["scale"][rows] * games["rating_offset"][rows]
        assert np.array_equal(games["adjustment"][rows], scaled)
        assert np.array_equal(games["capped"][rows], games["scale"][rows] < 1)
        assert games["score_per_hour"][rows] == pytest.approx(60 * score / minutes)
        rating[who] += games["adjustment"][rows]
        ranks = [1 + int(np.sum(rating[:rated] > rating[player])) for player in who]
        assert games["rank_after"][rows].tolist() == ranks
        errors.append(np.std(rating[:rated] - skill[:rated]))
    got = named(full.responses)
    rating, skill = rating[:rated], skill[:rated]
    half = factors.games_per_player // 2
    last = max((k for k, e in enumerate(errors) if e > factors.error_bound), default=-1)
    expected = {
        "rating_error": errors[-1],
        "games_to_converge": math.nan if last == count else (last + 1) * seats / n,
        "rank_correlation": spearmanr(rating, skill).statistic,
        "rating_slope": np.polyfit(skill, rating, 1)[0],
        "log_loss": np.mean(np.concatenate(losses)),
        "log_loss.late": np.mean(np.concatenate(losses[half:])),
        "skill_log_loss.late": np.mean(np.concatenate(known[half:])),
        "accuracy": np.mean(np.concatenate(hits)),
        "accuracy.late": np.mean(np.concatenate(hits[half:])),
        "rating_spread": np.std(rating),
    }
    ends = [errors[math.ceil(n * (k + 1) / seats)] for k in range(factors.games_per_player)]
    expected["mean_rating_error"] = np.mean(ends)
    assert got == pytest.approx(expected, rel=1e-9, nan_ok=True)
    assert np.array_equal(players["rating"][:rated], rating)
    assert np.isnan(players["rating"][rated:]).all()
    assert rated < n or np.mean(rating) == pytest.approx(500, abs=1e-9)  # games sum to zero
    assert players["games"].tolist() == np.bincount(games["player"], minlength=n).tolist()
    outcome_ = study.run(study.draw(Streams(3), 0))
    assert np.array_equal(row_of(study, outcome_.responses), full.responses, equal_nan=True)
    assert outcome_.curves is not None
    assert study.axes is not None
    curves = outcome_.curves[0] * np.array(study.axes.scales)[:, np.newaxis]
    assert curves[0] == pytest.approx(ends, rel=1e-9)
    assert curves[1] == pytest.approx([np.mean(loss) for loss in losses], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("t", [120.0, 60.0])
def test_ratings_approach_skills_in_units_of_the_spread(t: float) -> None:
    changes = {"n_players": 20, "games_per_player": 6000, "GAME_MULT": t / 2400, "T": t}
    rows = run(model(**changes, skill_std=60.0), 1, range(24)).responses
    values = dict(zip(named(rows[0]), rows.T, strict=True))
    within(values["rating_slope"], t / 120)
    assert values["rank_correlation"].min() > 0.9
    if t == 120:
        assert values["rating_error"].max() < 15


def test_known_skills_predict_best() -> None:
    rows = run(model(games_per_player=400), 2, range(30)).responses
    values = dict(zip(named(rows[0]), rows.T, strict=True))
    excess = values["log_loss.late"] - values["skill_log_loss.late"]
    assert excess.mean() > 4 * excess.std() / math.sqrt(30)


def test_every_rule_matters() -> None:
    base = {**SMALL, "n_teams": 3, "late_chance": 0.5, "early_chance": 0.5, "error_bound": 140.0}
    _, plain = recorded(base)
    for name, value in RULES["zonestats"].items():
        _, changed = recorded({**base, name: value})
        same = np.array_equal(plain.responses, changed.responses, equal_nan=True)
        ratings = [columns(full, 0)["rating"] for full in (plain, changed)]
        assert not (same and np.array_equal(*ratings)), name
