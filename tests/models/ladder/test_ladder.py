"""The ladder's kernels against the plain ladder, event by event, and against theory."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from tests.oracles.ladder import Ladder, Match
from tests.oracles.ladder_measures import career_curves, days, responses
from tests.oracles.ladder_world import draw_world
from tests.support import folders
from tests.support.command import interpreted
from tests.support.ladders import NO_FILES, random_factors, random_files, with_files
from valmatch import rate_games, simulate
from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build, record, run
from valmatch.models.ladder.factors import LadderFactors
from valmatch.models.ladder.model import MEASURES, SCALES, LadderModel
from valmatch.models.model import Table

CLOSE: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9}


def equals_the_plain_ladder(
    matching: str, seed: int, cases: int, folder: Path | None = None
) -> Counter[str]:
    """Compare random small ladders, of files in a folder; return how often what happened."""
    rng, happened = np.random.default_rng([seed, len(matching)]), Counter[str]()
    for _ in range(cases):
        factors, replication = random_factors(rng, matching), int(rng.integers(0, 10))
        files = random_files(rng, factors["days"], folder) if folder else NO_FILES
        factors = with_files(factors, files)
        try:
            context = {"files": frozenset(files.paths)}
            model = LadderModel(LadderFactors.model_validate(factors, context=context), files.paths)
        except ValidationError:  # nobody would ever queue, or skills that are known anyway
            continue
        world = draw_world(factors, seed, replication, files.skills, files.starts)
        plain = Ladder(factors, world)
        plain.play()
        names: list[object] = list(range(len(plain.players)))
        if files.names:
            names = [*files.names, *(f"newcomer-{k}" for k in range(len(world.joining)))]
        found = model.record(model.draw(Streams(seed), replication))
        happened.update(kind for _, kind, *_ in plain.history)
        tables = {table.name: table for table in found.tables}
        same_tickets(tables["tickets"], plain, names)
        same_games(tables["games"], plain, names)
        same(found.responses, responses(plain))
        for mine, theirs in zip(rows(tables["days"]), days(plain), strict=True):
            same(mine, theirs)
        curves = model.run(model.draw(Streams(seed), replication)).curves
        assert curves is not None
        for name, scale, curve in zip(MEASURES, SCALES, curves[0], strict=True):
            wanted = np.array(career_curves(plain)[name], dtype=np.float64)
            np.testing.assert_allclose(scale * curve, wanted, **CLOSE)
    return happened


def rows(table: Table) -> list[dict[str, Any]]:
    """Return a table by row."""
    columns = [column.tolist() for column in table.columns.values()]
    return [dict(zip(table.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def same(found: Any, wanted: Mapping[str, float | None]) -> None:  # noqa: ANN401
    """Compare numbers by name; None is NaN."""
    for name, value in wanted.items():
        expected = math.nan if value is None else value
        assert found[name] == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True), name


def near(value: float) -> Any:  # noqa: ANN401
    return pytest.approx(value, rel=1e-10, abs=1e-10)


def same_tickets(table: Table, plain: Ladder, names: list[object]) -> None:
    """Compare who queued when, what the rule saw, and how the wait ended."""
    assert len(table) == len(plain.tickets)
    for row, ticket in zip(rows(table), plain.tickets, strict=True):
        assert (row["player"], row["queued_hours"]) == (names[ticket.player.number], ticket.time)
        assert row["rating"] == near(ticket.rating)
        ended = (row["ended_hours"], row["match"])
        wanted = (ticket.ended, ticket.match)
        assert [None if math.isnan(one) else one for one in ended] == list(wanted)


def same_games(table: Table, plain: Ladder, names: list[object]) -> None:
    """Compare the matches that ended: sides, results, probabilities, ratings."""
    ends = [number for _, kind, number, *_ in plain.history if kind == "end"]
    size = plain.factors["rule"]["team_num"]
    assert len(table) == 2 * size * len(ends)
    games = rows(table)
    for place, number in enumerate(ends):
        match: Match = plain.matches[number]
        assert match.after is not None
        sides = zip("AB", match.tickets, match.before, match.after, strict=True)
        wanted = [
            (number, side, ticket.player.number, (side == "A") == match.a_wins, mu, new)
            for side, *team in sides
            for ticket, (mu, _), (new, _) in zip(*team, strict=True)
        ]
        for row, (game, side, player, won, mu, new) in zip(
            games[2 * size * place :], wanted, strict=False
        ):
            assert (row["game"], row["team"], row["player"]) == (game, side, names[player])
            assert row["score"] == won
            assert row["p"] == pytest.approx(match.p if side == "A" else 1.0 - match.p, rel=1e-12)
            assert row["rating_before"] == near(mu)
            assert row["rating_after"] == near(new)


@pytest.mark.slow
@pytest.mark.long
def test_teams_first() -> None:
    happened = equals_the_plain_ladder("team_first", 1, 60)
    assert min(happened[kind] for kind in ("queue", "match", "end", "give up", "drop")) > 50


def plain_python(matching: str, seed: int, cases: int, folder: str = "") -> dict[str, int]:
    """Compare without compiled kernels."""
    with np.errstate(all="ignore"):
        files = Path(folder) if folder else None
        return dict(equals_the_plain_ladder(matching, seed, cases, files))


@pytest.mark.slow
def test_both_teams_at_once() -> None:
    """In plain Python, as compiling joint matching takes long."""
    assert interpreted(
        "tests.models.ladder.test_ladder", "plain_python", "joint", 2, 25
    ).startswith("{'")


def small(*overrides: str) -> LadderModel:
    """Return the model `ladder` with 200 players and 4 days."""
    few = ("population.players=200", "days=4", "warmup_days=1")
    model = build(load_config("ladder", [*few, *overrides]))
    assert isinstance(model, LadderModel)
    return model


def table(found: Any, name: str) -> dict[str, NDArray[Any]]:  # noqa: ANN401
    (one,) = (table for table in found.tables if table.name == name)
    assert isinstance(one, Table)
    return one.columns


@pytest.mark.parametrize(
    ("shared", "one", "other"),
    [
        ("rule.team_num=5", "rule.player_diff=100", "rule.player_diff=800"),
        pytest.param(
            "rule.matching=flexmatch rule.team_num=2 parties.shares=[0.5,0.5]",
            *("rule.review_seconds=20", "rule.review_seconds=900"),
            marks=[pytest.mark.slow, pytest.mark.long],
        ),
        pytest.param(
            "rule.matching=preset rule.team_num=1 rule.preset=lichess rating.system=glicko2",
            *("rule.wave_seconds=10", "rule.wave_seconds=600"),
            marks=[pytest.mark.slow, pytest.mark.long],
        ),
    ],
)
def test_decisions_shift_no_draw(shared: str, one: str, other: str) -> None:
    """Sessions that both rules let happen start at the same moments, with the same skills."""
    models = [small(*shared.split(" "), rule) for rule in (one, other)]
    drawn = [repr(model.draw(Streams(5), 0)) for model in models]
    assert drawn[0] == drawn[1]
    mine, theirs = (table(record(model, 5, 0), "players") for model in models)
    for name in ("joined_hours", "skill", "activity"):
        assert (mine[name] == theirs[name]).all()
    paired = [run(model, 5, range(12)).responses for model in models]
    apart = run(models[1], 6, range(12)).responses
    column = models[0].responses.names.index("n_matches")
    together = np.var(paired[0][:, column] - paired[1][:, column])
    assert 0.0 < together < 0.5 * np.var(paired[0][:, column] - apart[:, column])


def ratings_in(path: Path, column: str) -> dict[str, float]:
    return {row["player"]: float(row[column]) for row in folders.rows(path)}


@pytest.mark.parametrize(
    ("system", "parameters"),
    [
        ("elo", {"K": 32.0, "scale": 400.0}),
        ("zonestats", {"T": 120.0, "GAME_MULT": 2.0, "MAX_GAME_LENGTH": 20.0}),
        ("trueskill", {"mu": 1500.0, "sigma": 300.0, "beta": 400.0, "tau": 3.0}),
        ("glicko2", {"deviation": 350.0, "volatility": 0.06, "tau": 0.5, "period": 5.0}),
        *(
            pytest.param(system, numbers, marks=pytest.mark.slow)
            for system, numbers in (
                ("openskill", {"mu": 1500.0, "sigma": 300.0, "beta": 400.0, "tau": 3.0}),
                ("glicko2", {"deviation": 200.0, "volatility": 0.1, "tau": 0.4, "period": 0.0}),
                ("glicko", {"deviation": 200.0, "c": 50.0, "floor": 60.0, "period": 0.0}),
                ("glicko", {"deviation": 350.0, "c": 34.6, "floor": 30.0, "period": 5.0}),
            )
        ),
    ],
)
def test_the_log_closes_the_circle(
    system: str, parameters: dict[str, float], tmp_path: Path
) -> None:
    """Rating the log of a run gives the ratings of the run, and their deviations."""
    overrides = {
        "population.players": 60,
        "days": 3,
        "warmup_days": 1,
        "rule.team_num": 2,
        "rating.system": system,
        "rating.beta": 400.0,
        "rating.mu": {"elo": 1500.0, "zonestats": 500.0}.get(system, 1500.0),
    }
    if system in ("glicko", "glicko2"):
        names = {"tau": "volatility_tau", "c": "deviation_growth", "floor": "least_deviation"}
        overrides |= {f"rating.{names.get(k, k)}": value for k, value in parameters.items()}
    run_folder = tmp_path / "run"
    simulate(load_config("ladder", overrides), out=run_folder)
    if system == "trueskill":
        parameters = {**parameters, "draw_probability": 0.0}
    rated = rate_games(
        run_folder / "games.csv", system, parameters=parameters, out=tmp_path / "rated"
    )
    assert rated.games > 100
    mine = ratings_in(run_folder / "players.csv", "rating")
    skill = system in ("trueskill", "openskill")
    theirs = ratings_in(tmp_path / "rated" / "ratings.csv", "mu" if skill else "rating")
    assert len(theirs) > 30
    assert all(mine[player] == pytest.approx(value, abs=1e-9) for player, value in theirs.items())
    if skill or system in ("glicko", "glicko2"):
        mine = ratings_in(run_folder / "players.csv", "sigma")
        column = "sigma" if skill else "deviation"
        theirs = ratings_in(tmp_path / "rated" / "ratings.csv", column)
        assert all(mine[one] == pytest.approx(value, abs=1e-9) for one, value in theirs.items())
