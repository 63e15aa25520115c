"""Small runs of every kind of command that reports are made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from tests.support.command import valmatch

SMALL = ("valorant", "--set", "team_num=2", "--set", "horizon=6")

GAMES = ("kg-fig1-top", *(f"--set={one}" for one in ("n_opponents=4", "n_games=20", "rank=1")))
"""A small config of the model with curves and policies."""

ZONES = ("zonestats", "--set", "n_players=12", "--set", "games_per_player=20")

DAYS = ("days=2", "warmup_days=0", "population.players=60")

LADDER = ("ladder", *(f"--set={one}" for one in DAYS))

LEVELS = ("--sweep", "team_diff=10,200", "--sweep", "wait_thresh=0.1,1")

DIFFS = ("--variant", "team_diff=10", "--variant", "team_diff=200")

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a|b`c`*x* @somebody [l](http://e.org) #12",
    '&amp; "q" \'',
    "=cmd|a",
    "-->",
    "\u202ereversed",
)
"""Names of players that would do something where they are taken for more than texts."""

LOG = "log.csv"

WORLDS = Path(__file__).parents[1] / "fixtures" / "ticket_worlds"

RULES, EVENTS = "rules.yaml", "events.jsonl"

LIMIT = ("optimize", "valorant-20min", "--budget", "100", "--seed", "2")

RUNS = {
    "simulate": ("simulate", *SMALL),
    "simulate-games": ("simulate", *GAMES),
    "simulate-zones": ("simulate", *ZONES),
    "simulate-ladder": ("simulate", *LADDER),
    "replicate": ("replicate", *SMALL, "-n", "12"),
    "controls": ("replicate", "valorant", "-n", "40", "--control-variates"),
    "parts": ("replicate", *SMALL, "--set", "measure=[bands, hours]", "-n", "6"),
    "games": ("replicate", *GAMES, "-n", "12"),
    "sweep": ("replicate", *SMALL, "-n", "6", *LEVELS),
    "compare": ("compare", "valorant", "--set", "team_diff=200", "-n", "12"),
    "variants": ("compare", *SMALL, *DIFFS, "-n", "8"),
    "optimize": LIMIT,
    "solvers": (*LIMIT, "--macroreps", "2"),
    "frontier": (*LIMIT, "--sweep", "upper_time=20:30:10"),
    "front": (*LIMIT, "--pareto", "avg_team_diff,avg_wait_time"),
    "rate": ("rate", LOG, "--system", "elo"),
    "tuned": ("rate", LOG, "--system", "elo", "--tune", "K"),
    "systems": ("rate", LOG, "--system", "elo,glicko2"),
    "whole": ("rank", LOG, "--prior", "200"),
    "linked": ("rank", LOG),
    "next": ("next", "whole", "--batch", "4"),
    "plan": ("plan", "whole", "--half-width", "90", "--replications", "4"),
    "predict": ("predict", "rate", "--pair", f"ann,{HOSTILE[0]}", "--pair", "bob,ann"),
    "replay": ("rules replay", str(WORLDS / "01-fair_teams.json")),
    "replay-log": ("rules replay", RULES, "--tickets", EVENTS, "--timeout", "60"),
}
"""Commands by the folder that holds their results."""


def make_runs(folder: Path) -> Callable[[str], Path]:
    """Return what makes a run of `RUNS` in a folder when any process first asks for it."""
    folder.mkdir(exist_ok=True)
    with FileLock(folder / "inputs.lock"):
        if not (folder / LOG).exists():
            _write_inputs(folder)

    def run(name: str) -> Path:
        command, *options = RUNS[name]
        if command in ("predict", "next", "plan"):
            run(options[0])
        with FileLock(folder / f"{name}.lock"):
            if not (folder / name).exists():
                given = [str(folder / one) if (folder / one).exists() else one for one in options]
                ended = valmatch(*command.split(), *given, "--out", folder / name, "--quiet")
                assert ended.code in (0, 3), ended.err
        return folder / name

    return run


def _write_inputs(folder: Path) -> None:
    """Write what commands of `RUNS` read."""
    names = ["ann", "bob", *HOSTILE]
    pairs = [(k, k % len(names), (3 * k + 1) % len(names)) for k in range(60)]
    rows = [f"{k},{_quoted(names[i])},{_quoted(names[j])}" for k, i, j in pairs if i != j]
    (folder / RULES).write_text("{teams: {duel: {size: 2, fewer: [[30, 1]]}}, latency: {max: 9}}")
    (folder / EVENTS).write_text("".join(map(_event, range(40))), encoding="utf-8")
    (folder / LOG).write_text("\n".join(["game,winner,loser", *rows]) + "\n", encoding="utf-8")


def _event(number: int) -> str:
    """Return a line of a game's own log: tickets that join, and some that leave."""
    second, leaves = number // 2, number % 2
    when = f"2026-01-05T12:00:{second:02d}Z"
    players = [{"playerId": f"{HOSTILE[second % len(HOSTILE)]} {second}"}]
    ticket = {"ticketId": f"t{second}", "startTime": when, "players": players}
    kind = "MatchmakingCancelled" if leaves and second % 3 == 0 else "MatchmakingSearching"
    detail = {"type": kind, "tickets": [ticket]}
    later = f"2026-01-05T12:01:{second:02d}Z" if leaves else when
    return json.dumps({"time": later, "detail": detail}) + "\n"


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
