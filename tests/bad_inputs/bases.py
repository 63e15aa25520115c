"""Small good runs, which cases damage."""

from __future__ import annotations

from pathlib import Path

import numba  # noqa: F401 - where it is imported, `simulate` leaves the kernels compiled

from tests.support.command import valmatch
from tests.support.game_logs import random_rows, write

CURVES = ("kg-fig1-top", *(f"--set={one}" for one in ("n_opponents=4", "n_games=20", "rank=1")))
"""A small config of the model with curves."""

LOG, RESULTS_LOG, TRACE = "long.csv", "results.csv", "trace.csv"

BATCH_LOG = "batch.csv"

BATCH = ("--prior", "200")
COLUMNS = ("--weight", "w", "--covariate", "x", "--cluster", "voter")
"""A rating of a whole log, and its columns."""

BELIEF = "belief"
"""A folder of ratings that pairs are chosen by, and games planned."""

BY_BELIEF = {
    "chosen": ("next", "--batch", "3"),
    "planned": ("plan", "--half-width", "150", "--replications", "2"),
}
"""Commands on that folder by the folder that holds their results."""

PARETO = "avg_team_diff,avg_wait_time"

RUNS = {
    "simulate": ("simulate", "valorant"),
    "replicate": ("replicate", "valorant", "-n", "12"),
    "controls": ("replicate", "valorant", "-n", "12", "--control-variates"),
    "curves": ("replicate", *CURVES, "-n", "12"),
    "shard": ("replicate", "valorant", "-n", "12", "--shard", "0/2"),
    "design": ("replicate", "valorant", "-n", "6", "--sweep", "team_diff=100,200"),
    "compare": ("compare", "valorant", "--set", "team_diff=300", "-n", "6"),
    "optimize": ("optimize", "valorant-20min", "--budget", "100"),
    "study": ("optimize", "valorant-20min", "--budget", "100", "--macroreps", "2"),
    "frontier": ("optimize", "valorant-20min", "--budget", "100", "--sweep", "upper_time=20:30:10"),
    "front": ("optimize", "valorant-20min", "--budget", "100", "--pareto", PARETO),
    "rate": ("rate", LOG),
    "systems": ("rate", LOG, "--system", "elo,glicko2"),
}
"""Commands by the folder that holds their results."""


def make_bases(folder: Path) -> Path:
    """Make the runs and the files in an empty folder; this also loads what commands need."""
    write(folder / LOG, random_rows(1, games=20, players=8))
    games = [[[f"p{k % 5}", f"p{(k + 1) % 5}"]] for k in range(20)]
    write(folder / RESULTS_LOG, games, "winner,loser")
    players = [[[f"{0.05 * k:.2f}", f"{1000 + 37 * k % 300}"]] for k in range(40)]
    write(folder / TRACE, players, "arrival_hours,rating")
    for name, (command, source, *options) in RUNS.items():
        source = str(folder / source) if command == "rate" else source
        ended = valmatch(command, source, *options, "--out", folder / name)
        assert ended.code in (0, 3), ended.err
    for system in ("elo", "trueskill", "glicko2"):
        assert valmatch("rate", folder / LOG, "--system", system).code == 0
    (folder / BATCH_LOG).write_bytes(batch_log())
    assert valmatch("rank", folder / BATCH_LOG, *BATCH, *COLUMNS).code == 0
    assert valmatch("rank", folder / BATCH_LOG, *BATCH, "--out", folder / BELIEF).code == 0
    for name, (command, *options) in BY_BELIEF.items():
        ended = valmatch(command, folder / BELIEF, *options, "--out", folder / name)
        assert ended.code == 0, ended.err
    drawn = valmatch("plot", folder / "compare")
    assert drawn.code == 0, drawn.err
    for file in drawn.out.splitlines():
        Path(file).unlink()
    return folder


def batch_log() -> bytes:
    """Return a log with weights, covariates and clusters."""
    names, lines = "abcdefg", ["player_a,player_b,result,w,x,voter,neutral,flat"]
    for k in range(40):
        first, second = names[k % 7], names[(k * 3 + 1 + k // 7) % 7]
        if first == second:
            second = names[(k + 1) % 7]
        result = ("1-0", "0-1", "1/2-1/2", "1-0")[k % 4]
        neutral = "yes" if k % 3 else "no"
        lines.append(f"{first},{second},{result},{1 + k % 3},{k * 7 % 11 - 5},v{k % 9},{neutral},1")
    return "\n".join([*lines, ""]).encode()
