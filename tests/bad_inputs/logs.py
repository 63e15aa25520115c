"""Bad tables: arrivals of a queue, logs of games, what goes with them, folders of ratings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from tests.bad_inputs.bases import (
    BATCH,
    BATCH_LOG,
    BELIEF,
    COLUMNS,
    LOG,
    RESULTS_LOG,
    TRACE,
    batch_log,
)
from tests.bad_inputs.case import FAULTY, Case, Content, Odd
from tests.bad_inputs.damage import HUGE, LONG, Damage, broken_file, changed_json
from tests.bad_inputs.tables import NUMBER, damaged_table

FILE = f"{FAULTY}.csv"

SYSTEMS = ("zonestats", "elo", "trueskill", "glicko2")

SCORES = [one for one in NUMBER if one != "1\n2"]

Bad = Mapping[str, Sequence[str]]


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
        bad = {"score": SCORES, "minutes": (*SCORES, "-1", "0"), "game": ("",), "player": ("",)}
        damage = damaged_table(rng, content, bad, ["game", "player", "score"])
    else:
        content = (bases / RESULTS_LOG).read_bytes()
        damage = damaged_table(rng, content, {"winner": ("",), "loser": ("",)}, ["winner", "loser"])
        if rng.random() < 0.2:
            damage = Damage(content + b"p1,p1\n", "against themselves", True)
    return _case("logs", number, argv, rng, damage, skips=rng.random() < 0.2)


VOTES = [
    (f"m{k % 5}", f"m{(k * 3 + 1) % 5}", ("model_a", "model_b", "tie")[k % 3])
    for k in range(24)
    if k % 5 != (k * 3 + 1) % 5
]
VOTE_COLUMNS = ("model_a", "model_b", "winner")


def game_file_case(number: int, rng: Random, bases: Path) -> Case:
    """Return the rating of bad votes, lines of JSON or games in PGN."""
    kind = rng.choice(("votes", "json", "pgn"))
    if kind == "votes":
        content = "".join(",".join(row) + "\n" for row in (VOTE_COLUMNS, *VOTES)).encode()
        bad = {"model_a": ("",), "winner": ("", "word", "2-", HUGE, LONG)}
        damage = damaged_table(rng, content, bad, VOTE_COLUMNS)
    else:
        games = [_as_json(*row) if kind == "json" else _as_pgn(*row) for row in VOTES]
        damage = _damaged_games(rng, kind, games)
    argv = ["rate", FILE, "--system", rng.choice(SYSTEMS), "--out", "out"]
    return _case("games", number, argv, rng, damage)


def _as_json(a: str, b: str, winner: str) -> str:
    return json.dumps(dict(zip(VOTE_COLUMNS, (a, b, winner), strict=True))) + "\n"


def _as_pgn(a: str, b: str, winner: str) -> str:
    result = {"model_a": "1-0", "model_b": "0-1", "tie": "1/2-1/2"}[winner]
    tags = f'[Event "x"]\n[White "{a}"]\n[Black "{b}"]\n[Result "{result}"]\n'
    return f"{tags}\n1. e4 {{a comment}} e5 {result}\n\n"


_FAULTS = {
    "json": (
        ("}", ""), ("{", ""), ('"winner"', '"winner'), ('"m', '"\\ud800m'), ("{", "[" * 100_000),
        (": ", ""), ("}", "} {}"), ('{"', '"'), ("{", '{"a": NaN'),
    ),
    "pgn": (
        ('"]', '"'), ("[White", "[White White"), ("a comment}", "a comment"), ('"m', "m"),
        ('[Result "', '[Result "x'), ("[White", "[Wite"),
    ),
}  # fmt: skip
"""What is replaced, once in a game, and then certainly of no use."""


def _damaged_games(rng: Random, kind: str, games: list[str]) -> Damage:
    """Return games of which one is bad, or may be."""
    text = "".join(games)
    at = rng.randrange(len(games))
    how = rng.choice(("file", "columns", "maybe", "maybe", *["fault"] * 6))
    if how == "file":
        return broken_file(rng, text.encode())
    if how == "columns":
        wide = {f"k{k}": k for k in range(1_000_000)}
        tags = "".join(f'[T{k} "x"]' for k in range(300_000)) + "\n"
        games[0] = json.dumps(wide) + "\n" if kind == "json" else tags + games[0]
        return Damage("".join(games).encode(), "many columns", True)
    if how == "maybe":
        what, content = rng.choice(
            [
                ("torn", text[: rng.randrange(len(text) // 2, len(text))]),
                ("another format", text + _as_pgn(*VOTES[0]) + _as_json(*VOTES[0]) + "a,b,tie\n"),
                ("carriage returns", text.replace("\n", "\r\n")),
                ("a byte order mark", f"\ufeff{text}"),
                ("a huge cell", text.replace("m1", LONG, 1)),
                ("NUL", text.replace("m1", "m\0", 1)),
            ]
        )
        return Damage(content.encode(), what, False)
    old, new = rng.choice(_FAULTS[kind])
    games[at] = games[at].replace(old, new, 1)
    return Damage("".join(games).encode(), f"{old} -> {new[:20]}", True)


def ratings_case(number: int, rng: Random, bases: Path) -> Case:
    """Return a rating that goes on from bad ratings."""
    content = (bases / "rate" / "ratings.csv").read_bytes()
    bad = {"rating": SCORES, "player": ("",), "games": ("-1", "1.5", "word", "nan", "1e400", HUGE)}
    damage = damaged_table(rng, content, bad, ["player", "rating"])
    argv = ("rate", LOG, "--ratings", FILE, "--out", "out")
    return _case("ratings", number, argv, rng, damage, {LOG: bases / LOG})


def whole_log_case(number: int, rng: Random, bases: Path) -> Case:
    """Return a rating of a bad whole log, or with a bad file of anchors or aliases."""
    kind = rng.choice(("log", "log", *OTHER_FILES))
    if kind in OTHER_FILES:
        content, bad, needed = OTHER_FILES[kind]
        damage = damaged_table(rng, content, bad, needed)
        damage = damage._replace(
            what=f"{kind}: {damage.what}", certain=damage.certain and not _same(damage, content)
        )
        argv = ["rank", BATCH_LOG, *BATCH, f"--{kind}", FILE, "--out", "out"]
        case = _case("whole logs", number, argv, rng, damage, {BATCH_LOG: batch_log()})
        return case._replace(names=[FILE, FAULTY, f"--{kind}"])
    damage = damaged_table(rng, batch_log(), WHOLE_LOG, ["player_a", "result", "w", "x", "voter"])
    if rng.random() < 0.1:
        damage = Damage(batch_log().replace(b",yes,", b",maybe,", 1), "neutral: maybe", False)
    if rng.random() < 0.1:
        text = b"player_a,player_b,result,w,x,voter\na,b,1-0,0,1,v\nb,a,1-0,0,2,v\n"
        damage = Damage(text, "all have weight 0", True)
    argv = ["rank", FILE, *BATCH, *COLUMNS, "--out", "out"]
    case = _case("whole logs", number, argv, rng, damage, skips=rng.random() < 0.2)
    return case._replace(names=[FILE, FAULTY, "--weight", "--covariate", "--cluster"])


WHOLE_LOG: Bad = {
    "w": (*SCORES, "-1", "-1e-9", "1e13"),
    "x": (*SCORES, "1e13", "-1e300"),
    "voter": ("",),
    "result": ("", "2-", "C", "1-1-1", "word", HUGE),
    "player_a": ("",),
    "player_b": ("",),
}
"""What cells of a whole log cannot be; what differs within a row is read by nobody."""

OTHER_FILES: Mapping[str, tuple[bytes, Bad, list[str]]] = {
    "anchors": (
        b"player,rating,deviation\na,1500,\nb,1600,50\nc,1400,0\n",
        {
            "player": ("", "b", "a"),
            "rating": (*SCORES, "1e7", "-1e300"),
            "deviation": ("-1", "nan", "word", "1e400", "1e7", "1e-300"),
        },
        ["player", "rating"],
    ),
    "alias": (
        b"name,alias\nzoe,a\nyan,b\nxia,c\n",
        {"name": ("", "a", "b", "c"), "alias": ("", "nobody", "zoe", "yan")},
        ["name", "alias"],
    ),
}
"""Files that go with a whole log: what they hold, what cells cannot be, columns needed."""


def _same(damage: Damage, content: bytes) -> bool:
    """Return whether a table means something all the same: another player, or as before."""
    if damage.content == content:
        return True
    lines = damage.content.decode(errors="replace").splitlines()
    firsts = [line.split(",")[0] for line in lines[1:]]
    return damage.what.startswith("player: '") and len(set(firsts)) == len(firsts)


def belief_case(number: int, rng: Random, bases: Path) -> Case:
    """Return a choice of pairs or a plan by a bad folder of ratings, or with bad allowed pairs."""
    if rng.random() < 0.3:
        content = b"player_a,player_b\na,b\nb,c\nc,d\nd,e\n"
        bad = {"player_a": ("", "nobody", LONG), "player_b": ("", "nobody", LONG)}
        damage = damaged_table(rng, content, bad, ["player_a", "player_b"])
        argv = ["next", BELIEF, "--allowed", FILE, "--out", "out"]
        case = _case("beliefs", number, argv, rng, damage, {BELIEF: bases / BELIEF})
        return case._replace(names=[FILE, "--allowed"])
    name = rng.choice(("posterior.npz", "summary.json", "ratings.csv", "manifest.json"))
    content = (bases / BELIEF / name).read_bytes()
    if name.endswith(".json"):
        damage = changed_json(rng, content)._replace(certain=False)
    elif name.endswith(".npz"):
        at = rng.randrange(len(content))
        cut = rng.choice((content[:at], content[:at] + rng.randbytes(9) + content[at + 9 :], b""))
        damage = Damage(cut, f"bytes from {at}", len(cut) < len(content))
    else:
        columns = content.decode().splitlines()[0].split(",")
        cells = dict.fromkeys(columns, ("", "word", "nan", LONG))
        damage = damaged_table(rng, content, cells, columns)._replace(certain=False)
    files: dict[str, Content] = {FAULTY: bases / BELIEF, f"{FAULTY}/{name}": damage.content}
    if rng.random() < 0.1:
        odd = rng.choice((Odd.FOLDER, Odd.PIPE, Odd.ZEROS, Odd.DANGLING))
        damage, files[f"{FAULTY}/{name}"] = damage._replace(what=odd.value, certain=False), odd
    plan = ("plan", FAULTY, "--half-width", "150", "--replications", "2", "--out", "out")
    words: Sequence[str] = rng.choice((("next", FAULTY, "--out", "out"), plan))
    what = f"{words[0]}: {name}: {damage.what}"
    return Case("beliefs", number, words, files, (FAULTY,), damage.certain, what=what)


def _case(
    kind: str,
    number: int,
    argv: Sequence[str],
    rng: Random,
    damage: Damage,
    others: Mapping[str, Content] | None = None,
    *,
    skips: bool = False,
) -> Case:
    """Return a command on a damaged file; one that `skips` bad games may take it."""
    content: Content = damage.content
    if rng.random() < 0.05:
        content = odd = rng.choice(list(Odd))
        damage = damage._replace(what=odd.value, certain=True)
    words = [*argv, "--skip-bad-games"] if skips else argv
    files = {**(others or {}), FILE: content}
    certain = damage.certain and not skips
    return Case(kind, number, words, files, (FILE,), certain, what=damage.what)
