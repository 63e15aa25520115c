"""Bad tables: arrivals of a queue, logs of games, earlier ratings."""

from __future__ import annotations

from pathlib import Path
from random import Random

from tests.bad_inputs.bases import LOG, RESULTS_LOG, TRACE
from tests.bad_inputs.case import FAULTY, Case, Content, Odd
from tests.bad_inputs.damage import HUGE, Damage
from tests.bad_inputs.tables import NUMBER, damaged_table

FILE = f"{FAULTY}.csv"

SYSTEMS = ("zonestats", "elo", "trueskill", "glicko2")


def trace_case(number: int, rng: Random, bases: Path) -> Case:
    """Return a simulation with bad arrivals."""
    content = (bases / TRACE).read_bytes()
    needed = ["arrival_hours", "rating"]
    if rng.random() < 0.3:
        rows = [line.split(",") for line in content.decode().splitlines()[1:]]
        content = "".join(f"{a},{b},1.5,50\n" for a, b in rows).encode()
        needed = ["arrival_hours", "elo", "kd", "wr"]
        content = ",".join(needed).encode() + b"\n" + content
    bad = dict.fromkeys(needed, NUMBER) | {"arrival_hours": (*NUMBER, "-1", "-1e308")}
    damage = damaged_table(rng, content, bad, needed)
    if rng.random() < 0.1:
        lines = content.splitlines(keepends=True)
        damage = Damage(lines[0] + b"".join(reversed(lines[1:])), "unsorted", True)
    command = rng.choice((("simulate", "valorant"), ("replicate", "valorant", "-n", "2")))
    argv = (*command, "--set", f"arrivals={FILE}", "--out", "out")
    # Half of a trace is one too, and a trace may have other columns.
    return _case("traces", number, argv, rng, damage)


def log_case(number: int, rng: Random, bases: Path) -> Case:
    """Return the rating of a bad game log."""
    argv = ["rate", FILE, "--system", rng.choice(SYSTEMS), "--out", "out"]
    if rng.random() < 0.6:
        content = (bases / LOG).read_bytes()
        scores = [one for one in NUMBER if one != "1\n2"]
        bad = {"score": scores, "minutes": (*scores, "-1", "0"), "game": ("",), "player": ("",)}
        damage = damaged_table(rng, content, bad, ["game", "player", "score"])
    else:
        content = (bases / RESULTS_LOG).read_bytes()
        damage = damaged_table(rng, content, {"winner": ("",), "loser": ("",)}, ["winner", "loser"])
        if rng.random() < 0.2:
            damage = Damage(content + b"p1,p1\n", "against themselves", True)
    skips = rng.random() < 0.2
    if skips:
        argv.append("--skip-bad-games")
    return _case("logs", number, argv, rng, damage._replace(certain=damage.certain and not skips))


def ratings_case(number: int, rng: Random, bases: Path) -> Case:
    """Return a rating that goes on from bad ratings."""
    content = (bases / "rate" / "ratings.csv").read_bytes()
    numbers = [one for one in NUMBER if one != "1\n2"]
    bad = {"rating": numbers, "player": ("",), "games": ("-1", "1.5", "word", "nan", "1e400", HUGE)}
    damage = damaged_table(rng, content, bad, ["player", "rating"])
    argv = ("rate", LOG, "--ratings", FILE, "--out", "out")
    case = _case("ratings", number, argv, rng, damage)
    return case._replace(files={**case.files, LOG: bases / LOG})


def _case(
    kind: str, number: int, argv: list[str] | tuple[str, ...], rng: Random, damage: Damage
) -> Case:
    content: Content = damage.content
    if rng.random() < 0.05:
        content = odd = rng.choice(list(Odd))
        damage = damage._replace(what=odd.value, certain=True)
    return Case(kind, number, argv, {FILE: content}, (FILE,), damage.certain, what=damage.what)
