"""Make the tables of this folder, in a few minutes.

    python results/zonestats/make.py

``curves``, ``multipliers``, ``caps``, ``spreads`` or ``tuned`` after it makes that table alone.
"""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from results.pages import make_parts
from valmatch.config.loading import load
from valmatch.execution.simulator import build, record, run
from valmatch.ratings.zonestats_cap import MOST_DISTANT, Cap

HERE = Path(__file__).parent
REPLICATIONS = 200
MULTIPLIERS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0)
SPREADS = (60.0, 90.0, 120.0, 180.0, 240.0, 480.0)
CAPPED = (("zonestats-ffa",), ("zonestats-ffa", "game_minutes=60"), ("zonestats", "team_size=4"))
CHANGED = ("rating_error", "rating_slope", "log_loss")
COMPARED = ("log_loss", "mean_rating_error", "rating_error", "rating_slope", "rank_correlation")


def valmatch(*words: str) -> str:
    """Return what a command prints."""
    command = [sys.executable, "-m", "valmatch", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def write(name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write one table, numbers to six digits."""
    with (HERE / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
            writer.writerow([f"{x:.6g}" if isinstance(x, float) else x for x in row])


def curves() -> None:
    """Write how the error falls with the games of a player, one row in ten."""
    rows: list[Sequence[object]] = []
    for config in ("zonestats", "zonestats-ffa"):
        with tempfile.TemporaryDirectory() as folder:
            valmatch("replicate", config, "-n", str(REPLICATIONS), "--out", folder)
            with (Path(folder) / "curves.csv").open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    game = int(row["game"])
                    if game in (1, 2, 5) or game % 10 == 0:
                        mean, error = float(row["mean"]), float(row["std_error"])
                        rows.append([config, row["measure"], game, mean, error])
    write("curves.csv", ("config", "measure", "game", "mean", "std_error"), rows)


def multipliers() -> None:
    """Write what each GAME_MULT gives at the published T, also less the published 2.0."""
    rows: list[Sequence[object]] = []
    for config in ("zonestats", "zonestats-ffa"):
        values = {}
        for multiplier in MULTIPLIERS:
            model = build(load(config, [f"GAME_MULT={multiplier}"]))
            values[multiplier] = run(model, 1, range(REPLICATIONS)).responses
        names = [response.name for response in model.responses]
        for name in COMPARED:
            k = names.index(name)
            for multiplier in MULTIPLIERS:
                excess = values[multiplier][:, k] - values[2.0][:, k]
                error = float(np.std(excess, ddof=1)) / math.sqrt(REPLICATIONS)
                mean = float(values[multiplier][:, k].mean())
                rows.append([config, name, multiplier, mean, float(excess.mean()), error])
    header = ("config", "response", "GAME_MULT", "mean", "less_published", "std_error_of_less")
    write("multipliers.csv", header, rows)


def caps() -> None:
    """Write what either reading of the cap allows, and what it does to ratings."""
    rows: list[Sequence[object]] = []
    for config, *sets in CAPPED:
        values = {}
        for cap in get_args(Cap):
            model = build(load(config, [*sets, f"cap={cap}"]))
            values[cap] = run(model, 1, range(REPLICATIONS)).responses
            games = record(model, 1, 0).tables[1].columns
            change = np.abs(games["adjustment"])
            most = float((change / games["minutes"]).max())
            row: list[object] = [" ".join((config, *sets)), cap, most]
            row += [float(change.max()), float(games["capped"].mean())]
            for name in CHANGED:
                k = [response.name for response in model.responses].index(name)
                excess = values[cap][:, k] - values[MOST_DISTANT][:, k]
                error = float(np.std(excess, ddof=1)) / math.sqrt(REPLICATIONS)
                row += [float(values[cap][:, k].mean()), error]
            rows.append(row)
    changed = [c for name in CHANGED for c in (name, f"{name}.less_std_error")]
    header = ("config", "cap", "most_per_minute", "most_in_a_game", "capped_share", *changed)
    write("caps.csv", header, rows)


def spreads() -> None:
    """Write how far the ratings spread under each T, at the published GAME_MULT and ratio."""
    rows: list[Sequence[object]] = []
    for held in ("GAME_MULT", "GAME_MULT / T"):
        for t in SPREADS:
            multiplier = 2.0 if held == "GAME_MULT" else 2.0 * t / 120.0
            model = build(load("zonestats", [f"T={t}", f"GAME_MULT={multiplier}"]))
            values = run(model, 1, range(REPLICATIONS)).responses.T
            found = dict(zip([one.name for one in model.responses], values, strict=True))
            spread = found["rating_spread"]
            error = float(np.std(spread, ddof=1)) / math.sqrt(REPLICATIONS)
            others = [float(found[name].mean()) for name in ("rating_error", "log_loss")]
            rows.append([held, t, multiplier, float(spread.mean()), error, *others])
    header = ("held", "T", "GAME_MULT", "rating_spread", "std_error", "rating_error", "log_loss")
    write("spreads.csv", header, rows)


def tuned() -> None:
    """Write the points that `optimize` recommends for two objectives, and the published point."""
    rows: list[Sequence[object]] = []
    for response in ("log_loss", "mean_rating_error"):
        for seed in (1, 2, 3):
            words = ("--seed", str(seed), "--set", f"optimize.objective.loss.response={response}")
            found = json.loads(valmatch("optimize", "zonestats-tune", *words, "--json"))
            best = found["recommended"]
            t, multiplier = best["point"]["T"], best["point"]["GAME_MULT"]
            rows.append([response, seed, t, multiplier, multiplier / t, best["objective"]["mean"]])
    write("tuned.csv", ("objective", "seed", "T", "GAME_MULT", "ratio", "mean"), rows)


PARTS = {part.__name__: part for part in (curves, multipliers, caps, spreads, tuned)}


if __name__ == "__main__":
    make_parts(__doc__, PARTS)
