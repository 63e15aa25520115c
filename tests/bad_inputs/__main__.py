"""Run cases and print what is wrong: ``python -m tests.bad_inputs --kind manifests --count 500``.

With ``--lay-out DIR`` the files of the first case are put there, to run its command by hand.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
from pathlib import Path

from tests.bad_inputs import KINDS, case
from tests.bad_inputs.bases import make_bases
from tests.bad_inputs.case import Case, lay_out
from tests.bad_inputs.judging import broken_promises


def _command(one: Case) -> str:
    words = (repr(word) if not word.isprintable() else shlex.quote(word) for word in one.argv)
    return " ".join(word if len(word) < 80 else f"{word[:70]}..." for word in words)


def main() -> None:
    """Run cases of one kind, or of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=list(KINDS), action="append")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--lay-out", type=Path, metavar="DIR")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bad-inputs-") as name:
        bases = make_bases(Path(name))
        if given.lay_out:
            one = case((given.kind or list(KINDS))[0], given.first, bases)
            work = given.lay_out / "a" / "b"
            work.mkdir(parents=True)
            lay_out(one, work)
            print(f"cd {work}; valmatch {_command(one)}")
            return
        for kind in given.kind or KINDS:
            failed, started = 0, time.monotonic()
            for number in range(given.first, given.first + given.count):
                one = case(kind, number, bases)
                problems = broken_promises(one)
                failed += bool(problems)
                if problems:
                    needed = "" if one.certain else " (may pass)"
                    print(f"{kind} {number}: {one.what!a}{needed}\n  valmatch {_command(one)}")
                    print("".join(f"    {problem!a}\n" for problem in problems), end="", flush=True)
            seconds = time.monotonic() - started
            print(f"{kind}: {failed} of {given.count} failed in {seconds:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
