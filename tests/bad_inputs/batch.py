"""Bad input of ratings of a whole log: logs with weights and covariates, anchors, options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from tests.bad_inputs.bases import BATCH, BATCH_LOG, COLUMNS, batch_log
from tests.bad_inputs.case import FAULTY, Case, Content
from tests.bad_inputs.damage import ESCAPES, HUGE, LONG, Damage
from tests.bad_inputs.options import LEVEL, POSITIVE, WHOLE, WORDS, Words
from tests.bad_inputs.tables import NUMBER, damaged_table

FILE = f"{FAULTY}.csv"

_NUMBERS = [one for one in NUMBER if one != "1\n2"]

NOT_POINTS: Words = ("0", "-1", "nan", "inf", "1e400", "1e7", "word", "", *ESCAPES, LONG)

CHOICE: Words = ("word", "DAVIDSON", "half,davidson", "none ", *ESCAPES, LONG, "\udcff")

COLUMN: Words = ("nothing", "W", "w,w", *ESCAPES, LONG, "\udcff")

BAD: Sequence[tuple[str, Words]] = (
    ("--prior", (*NOT_POINTS, "1e-9", "1e-300")),
    ("--anchors", ("nowhere.csv", ".")),
    ("--level", LEVEL),
    ("--draws", CHOICE),
    ("--home", (*CHOICE, "fit")),
    ("--interval", CHOICE),
    ("--time-unit", CHOICE),
    *((option, COLUMN) for option in ("--cluster", "--weight", "--covariate")),
    ("--cluster-days", (*POSITIVE, "7")),
    *((option, WHOLE) for option in ("--bootstrap", "--seed", "--top")),
    ("--system", ("elo", "bt", "bradley_terry,elo", *CHOICE[:2])),
    ("--set", ("mean", "mean=", "mean=word", "mean=nan", "K=1", *ESCAPES)),
    ("--tune", ("mean", "K", *WORDS[2:])),
)
"""What options of a rating of a whole log cannot be."""

ALONE: Sequence[Words] = (
    ("--interval", "none", "--bootstrap", "3"),
    ("--interval", "none", "--cluster", "voter"),
    ("--cluster", "voter", "--cluster-days", "7"),
    ("--covariate", "x", "--covariate", "x"),
    ("--cluster", "voter,voter"),
    ("--covariate", "flat"),
)
"""Options that do not go together."""


def batch_case(number: int, rng: Random, bases: Path) -> Case:
    """Return a rating of a whole log with bad input."""
    kind = rng.choice(("log", "log", "anchors", "aliases", "option", "option", "together"))
    if kind == "log":
        return _log_case(number, rng)
    if kind in ("anchors", "aliases"):
        return _file_case(number, rng, kind)
    argv = ("rank", BATCH_LOG, *BATCH, "--out", "out")
    if kind == "together":
        more = rng.choice(ALONE)
        return Case("batch", number, (*argv, *more), _with(), more[::2], what=" ".join(more))
    option, values = rng.choice(BAD)
    value = rng.choice(values)
    names = [option] if value else [option, "--"]
    what = f"{option} {value[:60]!r}"
    return Case("batch", number, (*argv, option, value), _with(), names, what=what)


def _with(**files: Content) -> dict[str, Content]:
    return {BATCH_LOG: batch_log(), **files}


def _log_case(number: int, rng: Random) -> Case:
    """Return a rating of a bad log; what differs within a row is read by nobody."""
    bad: dict[str, Sequence[str]] = {
        "w": (*_NUMBERS, "-1", "-1e-9", "1e13"),
        "x": (*_NUMBERS, "1e13", "-1e300"),
        "voter": ("",),
        "result": ("", "2-0", "H", "1-1", "word", HUGE),
        "player_a": ("",),
        "player_b": ("",),
    }
    damage = damaged_table(rng, batch_log(), bad, ["player_a", "result", "w", "x", "voter"])
    if rng.random() < 0.1:
        damage = Damage(batch_log().replace(b",yes,", b",maybe,", 1), "neutral: maybe", False)
    if rng.random() < 0.1:
        text = "\n".join(["player_a,player_b,result,w,x,voter", "a,b,1-0,0,1,v", "b,a,1-0,0,2,v"])
        damage = Damage(text.encode() + b"\n", "all have weight 0", True)
    skips = rng.random() < 0.2
    argv = ["rank", FILE, *BATCH, *COLUMNS, "--out", "out"]
    if skips:
        argv.append("--skip-bad-games")
    files: dict[str, Content] = {FILE: damage.content}
    certain = damage.certain and not skips
    names = [FILE, FAULTY, "--weight", "--covariate", "--cluster"]
    return Case("batch", number, argv, files, names, certain, what=damage.what)


def _file_case(number: int, rng: Random, kind: str) -> Case:
    """Return a rating with a bad file of anchors, aliases or names."""
    if kind == "anchors":
        content = b"player,rating,deviation\na,1500,\nb,1600,50\nc,1400,0\n"
        bad: dict[str, Sequence[str]] = {
            "player": ("", "b", "a"),
            "rating": (*_NUMBERS, "1e7", "-1e300"),
            "deviation": ("-1", "nan", "word", "1e400", "1e7", "1e-300"),
        }
        needed, option = ["player", "rating"], "--anchors"
    else:
        content = b"name,alias\nzoe,a\nyan,b\nxia,c\n"
        bad = {"name": ("", "a", "b", "c"), "alias": ("", "nobody", "zoe", "yan")}
        needed, option = ["name", "alias"], "--alias"
    damage = damaged_table(rng, content, bad, needed)
    argv = ("rank", BATCH_LOG, *BATCH, option, FILE, "--out", "out")
    files = _with(**{FILE: damage.content})
    certain = damage.certain and not _same(damage, content)
    names = [FILE, FAULTY, option]
    return Case("batch", number, argv, files, names, certain, what=f"{kind}: {damage.what}")


def _same(damage: Damage, content: bytes) -> bool:
    """Return whether a table means something all the same: another player, or as before."""
    if damage.content == content:
        return True
    lines = damage.content.decode(errors="replace").splitlines()
    firsts = [line.split(",")[0] for line in lines[1:]]
    return damage.what.startswith("player: '") and len(set(firsts)) == len(firsts)
