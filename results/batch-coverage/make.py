"""Make the tables of this folder: what the intervals of whole logs hold, in simulated leagues.

    python results/batch-coverage/make.py

That takes about nine minutes on one core. `worlds` after it plays the leagues of constant strengths
alone, `paths` those of strengths that move, `page` puts their tables into the page. What is done is
said on stderr.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np

from results.pages import counted, fill, make_parts, table
from tests.support.batch_leagues import LEAGUES, MEASURES, shares
from tests.support.path_leagues import LEVELS, PATH_LEAGUES, path_shares
from valmatch.storage.output import write_csv

HERE = Path(__file__).parent
TABLE = HERE / "coverage.csv"
WORLDS = 500

PATHS = HERE / "paths.csv"
PATH_WORLDS = 1000
PATH_HEAD = ("league", "level", "days", "differences of the last day")

HEAD = ("league", "interval", *MEASURES)

UNFIT = "draws as halves", "prior of a third", "votes"
"""How leagues begin whose games are not those of the model that rates them."""


def worlds() -> None:
    """Write `coverage.csv`: shares of each league and kind of interval, with standard errors."""
    rows: list[dict[str, object]] = []
    played = ((league, shares(league, WORLDS, number)) for number, league in enumerate(LEAGUES))
    for league, found in counted("leagues", played, len(LEAGUES)):
        for kind, own in found.items():
            means, errors = own.mean(axis=0), own.std(axis=0, ddof=1) / math.sqrt(len(own))
            row: dict[str, object] = {"league": league.name, "interval": kind, "worlds": len(own)}
            for name, mean, error in zip(MEASURES, means.tolist(), errors.tolist(), strict=True):
                known = not math.isnan(mean)
                row[name] = round(mean, 6) if known else None
                row[f"{name}, std_error"] = round(error, 6) if known else None
            rows.append(row)
    write_csv(TABLE, {name: [row[name] for row in rows] for name in rows[0]})


def paths() -> None:
    """Write `paths.csv`: shares of each league and level, with standard errors."""
    rows: list[dict[str, object]] = []
    for league in PATH_LEAGUES:
        found = np.array([path_shares(league, seed) for seed in range(PATH_WORLDS)])
        means, errors = found.mean(axis=0), found.std(axis=0, ddof=1) / math.sqrt(PATH_WORLDS)
        for level, own, error in zip(LEVELS, means.tolist(), errors.tolist(), strict=True):
            row: dict[str, object] = {"league": league.name, "level": level, "worlds": PATH_WORLDS}
            for name, mean, spread in zip(PATH_HEAD[2:], own, error, strict=True):
                row |= {name: round(mean, 6), f"{name}, std_error": round(spread, 6)}
            rows.append(row)
    write_csv(PATHS, {name: [row[name] for row in rows] for name in rows[0]})


def page() -> None:
    """Put the tables into the page."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    lines = [
        [row["league"], row["interval"], *(cell(row, name) for name in MEASURES)] for row in rows
    ]
    fitting = [row for row in rows if not row["league"].startswith(UNFIT)]
    held = [float(row[name]) for row in fitting for name in ("differences", "ratings")]
    errors = [float(row[f"{name}, std_error"] or 0.0) for row in rows for name in MEASURES]
    texts = {
        "coverage": table(HEAD, lines),
        "worlds": f"{WORLDS:,}",
        "left out": f"{sum(WORLDS - int(row['worlds']) for row in rows):,}",
        "fitting": f"{min(held):.0%} to {max(held):.0%}",
        "error": f"{np.max(errors):.1%}",
    }
    with PATHS.open(newline="", encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    lines = [
        [row["league"], cell(row, "level"), *(cell(row, name) for name in PATH_HEAD[2:])]
        for row in rows
    ]
    errors = [float(row[f"{name}, std_error"]) for row in rows for name in PATH_HEAD[2:]]
    texts |= {
        "paths": table(PATH_HEAD, lines),
        "path worlds": f"{PATH_WORLDS:,}",
        "path error": f"{np.max(errors):.1%}",
    }
    fill(HERE / "README.md", texts)


def cell(row: dict[str, str], name: str) -> str:
    """Return a share in percent; nothing where there is none."""
    return f"{100.0 * float(row[name]):.1f}" if row[name] else ""


PARTS = {part.__name__: part for part in (worlds, paths, page)}


if __name__ == "__main__":
    make_parts(__doc__, PARTS)
