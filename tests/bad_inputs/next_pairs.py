"""Bad input of pairs to play next and of plans: options, allowed pairs, folders of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from tests.bad_inputs.bases import BELIEF
from tests.bad_inputs.case import FAULTY, Case, Content, Odd
from tests.bad_inputs.damage import ESCAPES, LONG, broken_file, changed_json
from tests.bad_inputs.options import LEVEL, POSITIVE, WHOLE, Words
from tests.bad_inputs.tables import damaged_table
from valmatch.text.terminal import escaped

FILE = f"{FAULTY}.csv"

GRADIENT = "knowledge_gradient"

CHOICE: Words = ("word", "BEST", "best,order", "order ", *ESCAPES, LONG, "\udcff")

NAMES: Words = (",", "a,,b", "nobody", "a,nobody", *ESCAPES, LONG, "\udcff")

SHARE: Words = tuple(one for one in LEVEL if one not in ("0", "1", "1.0", "1e-400"))

BAD: Sequence[tuple[Words, str, Words]] = (
    ((), "--policy", (*CHOICE, "uniform,closeness", f"{GRADIENT},")),
    ((), "--goal", CHOICE),
    (("--policy", "uniform"), "--goal", ("best", "order", *CHOICE)),
    ((), "--batch", POSITIVE),
    ((), "--without", (*NAMES, "a,b,c,d,e,f,g", "a,b,c,d,e,f")),
    ((), "--new", (*NAMES[:2], *NAMES[4:], "a", "zoe,zoe", "zoe,b")),
    ((), "--explore", SHARE),
    ((), "--seed", WHOLE),
    ((), "--allowed", ("nowhere.csv", BELIEF, *ESCAPES)),
)
"""What options of `next` cannot be, with others that are given."""

PLAN: Words = ("plan", FAULTY, "--half-width", "150", "--replications", "2", "--out", "out")

READ = ("posterior.npz", "summary.json", "ratings.csv", "manifest.json")
"""What is read of a folder of ratings."""


def next_pairs_case(number: int, rng: Random, bases: Path) -> Case:
    """Return a choice of pairs or a plan with bad input."""
    kind = rng.choice(("option", "option", "allowed", "folder"))
    if kind == "option":
        return _option_case(number, rng, bases)
    if kind == "allowed":
        return _allowed_case(number, rng, bases)
    return _folder_case(number, rng, bases)


def _option_case(number: int, rng: Random, bases: Path) -> Case:
    given, option, values = rng.choice(BAD)
    value = rng.choice(values)
    argv = ("next", BELIEF, *given, option, value, "--out", "out")
    names = [option, value, escaped(value), "--"]
    anything = option == "--new" and value in (*ESCAPES, LONG)  # newcomers may have any name
    certain = not anything and bool(value.strip() or option not in ("--policy", "--without"))
    what = f"{option} {value[:60]!r}"
    return Case("pairs", number, argv, {BELIEF: bases / BELIEF}, names, certain, what=what)


def _allowed_case(number: int, rng: Random, bases: Path) -> Case:
    content = b"player_a,player_b\na,b\nb,c\nc,d\nd,e\n"
    bad = {"player_a": ("", "nobody", LONG), "player_b": ("", "nobody", LONG)}
    damage = damaged_table(rng, content, bad, ["player_a", "player_b"])
    files: dict[str, Content] = {BELIEF: bases / BELIEF, FILE: damage.content}
    argv = ("next", BELIEF, "--allowed", FILE, "--out", "out")
    what = f"allowed: {damage.what}"
    return Case("pairs", number, argv, files, [FILE, "--allowed"], damage.certain, what=what)


def _folder_case(number: int, rng: Random, bases: Path) -> Case:
    """Return a choice or a plan by a folder of ratings with a bad file."""
    name = rng.choice(READ)
    content = (bases / BELIEF / name).read_bytes()
    if name.endswith(".json"):
        damage = changed_json(rng, content)
        damage = damage._replace(certain=False)
    elif name.endswith(".npz"):
        at = rng.randrange(len(content))
        cut = rng.choice((content[:at], content[:at] + rng.randbytes(9) + content[at + 9 :], b""))
        damage = broken_file(rng, b"text")._replace(content=cut, what=f"bytes from {at}")
        damage = damage._replace(certain=len(cut) < len(content))
    else:
        columns = content.decode().splitlines()[0].split(",")
        bad = dict.fromkeys(columns, ("", "word", "nan", LONG))
        damage = damaged_table(rng, content, bad, columns)._replace(certain=False)
    files: dict[str, Content] = {FAULTY: bases / BELIEF, f"{FAULTY}/{name}": damage.content}
    if rng.random() < 0.1:
        odd = rng.choice((Odd.FOLDER, Odd.PIPE, Odd.ZEROS, Odd.DANGLING))
        damage, files[f"{FAULTY}/{name}"] = damage._replace(what=odd.value, certain=False), odd
    argv = rng.choice((("next", FAULTY, "--out", "out"), PLAN))
    what = f"{argv[0]}: {name}: {damage.what}"
    return Case("pairs", number, argv, files, (FAULTY,), damage.certain, what=what)
