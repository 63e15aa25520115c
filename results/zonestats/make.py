"""Makes the tables of this folder, in a few minutes; run it from anywhere."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from valmatch.config.loading import load
from valmatch.simulator import build, run

HERE = Path(__file__).parent
REPLICATIONS = 200
MULTIPLIERS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0)
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


if __name__ == "__main__":
    curves()
    multipliers()
    tuned()
