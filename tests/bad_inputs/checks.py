"""Files of every kind, damaged in every way, given to ``valmatch check``."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random

from tests.bad_inputs.case import FAULTY, Case, Odd
from tests.bad_inputs.configs import config_case
from tests.bad_inputs.damage import broken_file
from tests.bad_inputs.logs import game_file_case, log_case, ratings_case, trace_case
from tests.bad_inputs.rule_sets import rule_set_case

MAKERS = (game_file_case, game_file_case, trace_case, log_case, ratings_case, rule_set_case)
ENDINGS = ("csv", "json", "jsonl", "pgn", "yaml", "tf", "gz", "txt")


def check_case(number: int, rng: Random, bases: Path) -> Case:
    """Return the check of a file that is damaged, cut, mixed of two, or too wide."""
    content = _content(rng.choice((*MAKERS, config_case))(number, rng, bases))
    how = rng.choice(("as it is", "as it is", "broken", "cut", "mixed", "wide", "packed"))
    certain = False
    if how == "broken" and content and not content.startswith(b"\xff"):
        text = content.decode("utf-8", "ignore").encode() or b"x"
        content, what, certain = broken_file(rng, text)
        how = f"broken: {what}"
    elif how == "cut":
        content = content[: rng.randrange(len(content) + 1)]
    elif how == "mixed":
        content += _content(rng.choice(MAKERS)(number + 1, rng, bases))
    elif how == "wide":
        content = b",".join(b"c%d" % k for k in range(1_000_000)) + b"\n" + content
    elif how == "packed":
        content = gzip.compress(content)
        content = content[: rng.choice((len(content), len(content) // 2))]
    file = f"{FAULTY}.{rng.choice(ENDINGS)}"
    odd = rng.choice(list(Odd)) if rng.random() < 0.05 else None
    argv = ["check", file, *rng.choice(((), (), ("--json",), ("--write", "out")))]
    return Case(
        "checks",
        number,
        argv,
        {file: odd or content},
        (file,),
        certain or odd is not None,
        what=odd.value if odd else how,
        lines=12,
    )


def _content(case: Case) -> bytes:
    """Return the damaged file of a case; a usual one where it has none."""
    files = [content for name, content in case.files.items() if name.startswith(FAULTY)]
    return next((content for content in files if isinstance(content, bytes)), b"a,b\n1,2\n")
