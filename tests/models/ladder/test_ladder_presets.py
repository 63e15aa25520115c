"""Ladders by the rules of living matchmakers: against the queue of tickets known beforehand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.kernels.arrays import Ints
from valmatch.matching.living.queue import ANY, Parties, PresetInput, play_preset
from valmatch.models.ladder.factors import LadderFactors
from valmatch.models.ladder.model import LadderModel, Run
from valmatch.models.ladder.state import new_log
from valmatch.text.terminal import one_line

HOUR = 3600.0

BAR = {
    "population": {"players": 150, "skill_mean": 25, "newcomer_skill_mean": 25, "skill_std": 8},
    "rating": {"mu": 25, "sigma": 8.3, "tau": 0.1},
    "match": {"outcome": "normal", "beta": 4.2, "minutes": 4},
}
"""A population on the scale of Beyond All Reason."""

LADDERS: dict[str, dict[str, Any]] = {
    "faf": {"rule": {"preset": "faf", "team_size": 2}, "parties": {"shares": [0.6, 0.4]}},
    "faf_duels": {"rule": {"preset": "faf_duels"}},
    "bar": {
        "rule": {"preset": "bar", "team_size": 2, "each_player": True},
        "parties": {"shares": [0.7, 0.3]},
        **BAR,
    },
    "shieldbattery": {
        "rule": {"preset": "shieldbattery", "sample": 5},
        "rating": {"system": "glicko2"},
    },
    "osu": {"rule": {"preset": "osu", "radius": 100}, "population": {"players": 24}},
    "lichess": {"rule": {"preset": "lichess", "wave_players": 6}, "rating": {"system": "glicko2"}},
}
"""By name a rule that has much to do, and who plays by it."""


def factors_of(name: str, **changes: Any) -> LadderFactors:  # noqa: ANN401
    """Return the factors of a small ladder."""
    small = {
        "days": 0.25,
        "warmup_days": 0,
        "population": {"players": 60, "newcomers_per_day": 40},
        "sessions": {"per_day": 12, "patience_minutes": 6, "activity_cv": 0.5},
        "match": {"minutes": 3},
    }
    given = {**small, **LADDERS[name]}
    given["population"] = {**small["population"], **given["population"]}  # type: ignore[dict-item]
    return LadderFactors.model_validate({**given, **changes}, context={"files": frozenset()})


def played(model: LadderModel, seed: int) -> Run:
    """Return a replication with its log."""
    inputs = model.draw(Streams(seed), 0)
    log = new_log(20_000, 20_000, model._factors.rule.team_num)
    run = model.play(inputs, log)
    assert run.loop.state["tickets"][0] <= 20_000
    return run


class Tickets(NamedTuple):
    """The tickets of a replication, and which of them the one of each player is."""

    tickets: PresetInput
    of: Ints


def tickets_of(model: LadderModel, run: Run, place: Any) -> Tickets:  # noqa: ANN401
    """Return the tickets with what was believed of their players when they joined."""
    factors = model._factors
    log, n = run.log.tickets[: run.loop.state["tickets"][0]], run.loop.state["numbered"][0]
    first_sigma = model._newcomer[model._deviation] if model._deviation >= 0 else 0.0
    careers: dict[int, list[tuple[float, float, float]]] = {}
    for number in range(n):
        end = run.log.matches["time"][number] + factors.match.minutes / 60.0
        if number >= run.loop.state["ended"][0]:
            continue
        for ticket, (mean, sigma) in zip(run.log.teams[number], run.log.after[number], strict=True):
            careers.setdefault(int(log["player"][ticket]), []).append((end, mean, sigma))
    beliefs = []
    for player, time in zip(log["player"].tolist(), log["time"].tolist(), strict=True):
        ended = [game for game in careers.get(player, ()) if game[0] <= time]
        mean, sigma = ended[-1][1:] if ended else (factors.rating.mu, first_sigma)
        beliefs.append((mean, sigma, len(ended)))
    means, sigmas, games = (np.array(column) for column in zip(*beliefs, strict=True))
    assert np.array_equal(means, log["rating"])
    firsts: list[int] = []
    sizes: list[int] = []
    while sum(sizes) < log.size:
        firsts.append(sum(sizes))
        sizes.append(int(log["together"][firsts[-1]]))
    tickets = len(sizes)
    leaders = log[firsts]
    gone = (leaders["match"] < 0) & ~np.isnan(leaders["ended"])
    parties = Parties(
        np.array(sizes),
        np.array(firsts),
        means,
        sigmas,
        games,
        games == 0,
        np.full(tickets, -1),
        np.zeros(tickets),
        np.full((1, 1), np.nan),
        np.full(tickets, -1),
        np.full(tickets, -ANY),
        np.full(tickets, ANY),
        np.zeros(tickets, np.bool_),
        np.zeros(tickets, np.int64),
    )
    cancels = np.where(gone, leaders["ended"] * HOUR, np.inf)
    found = PresetInput(leaders["time"] * HOUR, cancels, leaders["player"].copy(), parties, place)
    return Tickets(found, np.repeat(np.arange(tickets), sizes))


def sides(tickets: Any, of: Ints) -> list[int]:  # noqa: ANN401
    """Return the tickets of a side by those of its players."""
    return sorted({int(of[ticket]) for ticket in tickets})


@pytest.mark.slow
@pytest.mark.parametrize("name", LADDERS)
def test_matches_are_those_of_the_same_tickets_known_beforehand(name: str) -> None:
    model = LadderModel(factors_of(name))
    rule, team_num = model._factors.rule, model._factors.rule.team_num
    numbers = rule.numbers()
    assert rule.preset is not None
    assert numbers is not None
    for seed in (1, 2, 3):
        run = played(model, seed)
        tickets, of = tickets_of(model, run, model.draw(Streams(seed), 0).rng_key)
        # Reviews of tickets known beforehand include one at the horizon.
        horizon = 24.0 * HOUR * model._factors.days - 0.25
        expected, _ = play_preset(rule.preset, numbers, tickets, 1e9, horizon)
        n = int(run.loop.state["numbered"][0])
        assert n == expected.times.size > 30
        assert np.allclose(run.log.matches["time"][:n] * HOUR, expected.times, rtol=1e-12)
        for number in range(n):
            own = expected.matches == number
            for team, seats in enumerate((slice(team_num), slice(team_num, None))):
                there = expected.tickets[own & (expected.teams == team)]
                assert sides(run.log.teams[number, seats], of) == sorted(there.tolist())
        _check_conservation(run)


def _check_conservation(run: Run) -> None:
    """Check that every ticket is matched once, given up, or waits."""
    log = run.log.tickets[: run.loop.state["tickets"][0]]
    n = run.loop.state["numbered"][0]
    matched = run.log.teams[:n].ravel()
    assert np.unique(matched).size == matched.size
    assert np.array_equal(np.flatnonzero(log["match"] >= 0), np.sort(matched))
    waiting = np.isnan(log["ended"])
    assert (~waiting).sum() == matched.size + (~waiting & (log["match"] < 0)).sum()
    queued = run.loop.players["state"] == 1
    assert queued.sum() == waiting.sum()


@pytest.mark.slow
@pytest.mark.parametrize("name", LADDERS)
def test_nothing_depends_on_the_room(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = LadderModel(factors_of(name))
    wide = played(model, 1)
    for_players = model._rule.new.__globals__["_for_players"]
    monkeypatch.setitem(for_players.__globals__, "LEAST_ROOM", 1)
    model._queue = model._rule.new(1, model._rules.queue)
    narrow = played(model, 1)
    assert model._queue.tickets.matches.size < 1024
    assert narrow.loop.players.tobytes() == wide.loop.players.tobytes()
    assert narrow.log.tickets.tobytes() == wide.log.tickets.tobytes()
    assert narrow.log.teams.tobytes() == wide.log.teams.tobytes()
    again = played(model, 1)
    assert again.log.tickets.tobytes() == wide.log.tickets.tobytes()


def written(path: Any, text: str) -> str:  # noqa: ANN401
    """Write a config of a ladder; return its path."""
    path.write_text(f"model: ladder\nfactors:\n{text}\n", encoding="utf-8")
    return str(path)


def test_a_preset_says_how_matches_are_made_and_for_how_many(tmp_path: Any) -> None:  # noqa: ANN401
    source = written(tmp_path / "own.yaml", "  rule: {preset: bar, team_size: 3}")
    rule = load_config(source, ()).factors.rule  # type: ignore[attr-defined]
    assert (rule.matching, rule.team_num, rule.chance_low) == ("preset", 3, 0.3)
    varied = load_config(source, ("rule.tick=2", "rule.chance_high=0.8"))
    assert varied.factors.rule.tick == 2.0  # type: ignore[attr-defined]
    assert varied.factors.rule.chance_high == 0.8  # type: ignore[attr-defined]
    assert LadderFactors().rule.model_dump().keys().isdisjoint(("preset", "tick", "beta"))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("{preset: bar, matching: pairs}", "pairs does not go with rule.preset: bar"),
        ("{matching: preset}", "preset: missing"),
        ("{tick: 2}", "preset: missing"),
        ("{preset: faf, team_num: 5}", "5 players on a team, but rule.preset faf has teams of 4"),
        ("{preset: osu, lobby_size: 4}", "4 teams, but a ladder plays one side against another"),
        ("{preset: bar, team_count: 3}", "3 teams, but a ladder plays one side against another"),
        ("{preset: lichess, tick: 2}", "preset lichess has no such number"),
        ("{preset: bar, tick: 0.01}\n  days: 365", "ticks in 365 days"),
        ("{preset: lichess}\n  parties: {shares: [0.5, 0.5]}", "takes single players alone"),
        ("{preset: bar, team_size: 2}\n  parties: {shares: [0.5, 0, 0.5]}", "teams of 2"),
    ],
)
def test_what_has_no_meaning_is_refused_in_a_line(
    rule: str,
    words: str,
    tmp_path: Any,  # noqa: ANN401
) -> None:
    with pytest.raises(InputError) as caught:
        load_config(written(tmp_path / "own.yaml", f"  rule: {rule}"), ())
    (line,) = str(caught.value).splitlines()
    assert words in line
    assert line == one_line(line)


def test_a_population_on_another_scale_is_remarked_on() -> None:
    remarks = dict(factors_of("bar", rating={"mu": 1500}).remarks())
    assert "takes newcomers to be at 16.67" in remarks["rating.mu"]
    assert "rating.mu" not in dict(factors_of("bar").remarks())
