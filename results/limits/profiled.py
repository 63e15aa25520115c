"""Where the time of a call of `valmatch` goes by Python's profiler, a part a line.

    python -m results.limits.profiled optimize valorant-20min --quiet --out FOLDER

The parts are those of the command. The profiler makes Python slower than it is.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from results.limits.parting import show
from valmatch.__main__ import main

IMPORTING = {
    "importing, what modules and classes run as they are imported": [
        *("importlib", "marshal", "builtins.compile", "_imp.", "builtins.exec", "__build_class__"),
        *("/re/", "typing", "inspect.py", "enum.py", "dataclasses.py", "pydantic"),
    ]
}
GROUPS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "optimize": {
        "Gaussian processes": ["solvers/gaussian_process"],
        "the search besides": ["valmatch/optimization"],
        "replications": [
            *("valmatch/matching", "valmatch/models", "valmatch/draws", "valmatch/execution")
        ],
        **IMPORTING,
        "numba, which loads compiled kernels": ["/numba/", "/llvmlite/"],
        "numpy and scipy": ["numpy", "scipy"],
    },
    "rate": {
        "waiting for what is read": [
            *("'acquire' of '_thread", "threading.py", "concurrent/futures")
        ],
        "writing": ["writing/", "to_json", "'decode' of", "'write' of", "fsync", "names.py"],
        "rating": ["playing.py", "roster.py", "/ratings/"],
        **IMPORTING,
    },
}
"""Parts by texts in names of files and functions, by command; the first that fits counts."""


def measured(groups: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Return the seconds by part of the call that the command line asks for."""
    profile = cProfile.Profile()
    with suppress(SystemExit):
        profile.runcall(main)
    found: dict[str, float] = {}
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    for (file, _, name), (_, _, own, _, _) in stats.items():
        place = f"{file} {name}"
        matching = (part for part, texts in groups.items() if any(text in place for text in texts))
        part = next(matching, "the rest")
        found[part] = found.get(part, 0.0) + own
    return found


if __name__ == "__main__":
    show(measured(GROUPS[sys.argv[1]]))
