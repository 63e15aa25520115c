"""Make the tables, charts and page of this folder: ten questions on rule sets, as PLAN.md says.

    python results/tickets/make.py

takes some 25 minutes on one core. `waits`, `steps`, `tuned`, `age`, `parties`, `blocks`, `latency`,
`population`, `starving`, `truth`, `backfill` and `order` after it run the commands of that question
alone, one to five minutes each, and write its table. `list` prints all commands, `charts` draws,
`page` fills the page, and `--check` says whether the page holds the tables. How far it is is said
on stderr.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from results.pages import counted, fill, make_parts
from results.tickets.commands import CELLS, Run
from results.tickets.drawing import PANELS, draw
from results.tickets.showing import command_text, texts_of
from valmatch.config.loading import load
from valmatch.models.tickets.factors import TicketsFactors
from valmatch.storage.output import write_csv

HERE = Path(__file__).parent
COMMAND = Path(sys.executable).with_name("valmatch")
TUNING = ("optimize", "tickets-tune", "--budget", "300", "--seed", "3902", "--out", "tuned")

HEAD = ("run", "point", "response", "n", "mean", "low", "high", "base")


def cell(name: str) -> None:
    """Run the commands of a question, and write its table."""
    runs = CELLS[name]
    with tempfile.TemporaryDirectory() as folder:
        if name == "tuned":
            _said(list(TUNING), folder)
            tuned = Path(folder) / "tuned" / "tuned_rules.json"
            (HERE / tuned.name).write_bytes(tuned.read_bytes())
        found = (rows_of(run, folder) for run in runs)
        rows = [row for own in counted(name, found, len(runs)) for row in own]
    write_csv(HERE / f"{name}.csv", {key: [row[key] for row in rows] for key in HEAD})


def rows_of(run: Run, folder: str) -> list[dict[str, object]]:
    """Return the rows of a command: means with intervals, or differences beside the base."""
    document = _said([*run.words, "--json"], folder)
    return [*(_compared(run, document) if run.compares else _replicated(run, document))]


def _compared(run: Run, document: dict[str, Any]) -> Iterator[dict[str, object]]:
    """Yield the rows of systems that are compared."""
    systems = document["variants"].values() if "variants" in document else [document]
    for point, system in zip(run.variants, systems, strict=True):
        for response in run.responses:
            yield _row(run, point, response, system["differences"][response])


def _replicated(run: Run, document: dict[str, Any]) -> Iterator[dict[str, object]]:
    """Yield the rows of one system, or of the points of a sweep."""
    for one in document.get("points", [document]):
        point = ",".join(f"{value:g}" for value in one.get("point", {}).values())
        for response in run.responses:
            yield _row(run, point, response, one["responses"][response])


def _row(run: Run, point: str, response: str, found: dict[str, Any]) -> dict[str, object]:
    values = [found[key] for key in ("mean", "ci_low", "ci_high")]
    values.append(found.get("mean_base", found.get("mean_a")) if run.compares else None)
    mean, low, high, base = (None if one is None else float(f"{one:.6g}") for one in values)
    named = {"run": run.name, "point": point, "response": response, "n": found["n"]}
    return {**named, "mean": mean, "low": low, "high": high, "base": base}


def _said(words: list[str], folder: str) -> dict[str, Any]:
    """Run a command in a folder and return the document that it prints."""
    wanted = words if "--json" in words else [*words, "--json"]
    done = subprocess.run(
        [COMMAND, *wanted], cwd=folder, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode not in (0, 3):
        sys.exit(f"valmatch {' '.join(words)}: exit code {done.returncode}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def charts() -> None:
    """Draw a chart for each question."""
    for name in PANELS:
        draw(name, table_of(name), HERE)


def table_of(name: str) -> list[dict[str, str]]:
    """Return the rows of the table of a question."""
    with (HERE / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def page() -> None:
    """Put commands, tables and numbers into the page."""
    readme = HERE / "README.md"
    tables = {name: table_of(name) for name in CELLS}
    fill(readme, texts_of(tables, readme.read_text(encoding="utf-8")) | sizes())


def sizes() -> dict[str, str]:
    """Return the quietest hour of the config, and its tickets and all players at 2,000 tickets."""
    factors = load("tickets").factors
    assert isinstance(factors, TicketsFactors)
    profile, shares = factors.arrivals.hourly_profile, factors.parties.shares
    quietest = min(profile) / fmean(profile)
    players = sum(size * share for size, share in enumerate(shares, 1)) / sum(shares)
    return {
        "quietest": f"{quietest:.2f}",
        "quietest of 2000": f"{2000 * quietest:.0f}",
        "players of 2000": f"{2000 * players:,.0f}",
    }


def listing() -> None:
    """Print all commands, for those who want to give one by hand."""
    for name, runs in CELLS.items():
        first = [f"valmatch {' '.join(TUNING)}"] * (name == "tuned")
        print(f"# {name}", *first, *map(command_text, runs), sep="\n")


PARTS: dict[str, Callable[[], object]] = {
    "list": listing,
    **{name: partial(cell, name) for name in CELLS},
    "charts": charts,
    "page": page,
}


if __name__ == "__main__":
    make_parts(__doc__, PARTS)
