"""Make the tables of this folder, in a quarter of an hour on one core.

    python results/zonestats/make.py

``curves``, ``multipliers``, ``caps``, ``spreads``, ``tuned`` or ``optima`` after it makes that
table alone, ``page`` puts all tables into the page.
"""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np

from results.opponent_priors import half_widths
from results.pages import counted, fill, make_parts, read, table, where
from valmatch.config.loading import load
from valmatch.execution.simulator import build, record, run
from valmatch.kernels.arrays import Floats
from valmatch.ratings.zonestats_cap import MOST_DISTANT, Cap

HERE = Path(__file__).parent
REPLICATIONS = 200
MULTIPLIERS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0)
SPREADS = (60.0, 90.0, 120.0, 180.0, 240.0, 480.0)
CAPPED = (("zonestats-ffa",), ("zonestats-ffa", "game_minutes=60"), ("zonestats", "team_size=4"))
CHANGED = ("rating_error", "rating_slope", "log_loss")
COMPARED = ("log_loss", "mean_rating_error", "rating_error", "rating_slope", "rank_correlation")

PUBLISHED = 120.0, 2.0
"""T and GAME_MULT of the source."""

LEAGUES = tuple(product((20, 50, 200, 1000), (60.0, 120.0, 240.0)))
"""Games a player and true spreads of the populations that T and GAME_MULT are chosen for."""

TS = (30.0, 60.0, 90.0, 120.0, 180.0, 240.0, 360.0)
AT_120 = (0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
"""Values of GAME_MULT that are tried at T 120, at another T as many times as large as T is."""

CHOOSING, JUDGING, OPTIMA_N = 11, 12, 20
"""Seeds of the populations by which a point is chosen and on which it is judged, and how many."""

LOSSES = {"log_loss": (120.0,), "rating_error": TS}
"""By what points are chosen, and the T that are tried: no prediction depends on T."""


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


# ---- what a league would choose ----


def responses(
    games: int, spread: float, t: float, multiplier: float, seed: int
) -> dict[str, Floats]:
    """Return the responses of duels in a league, population by population."""
    sets = [
        f"games_per_player={games}",
        f"true_spread={spread}",
        f"T={t}",
        f"GAME_MULT={multiplier}",
    ]
    model = build(load("zonestats", sets))
    values = run(model, seed, range(OPTIMA_N)).responses.T
    return dict(zip([one.name for one in model.responses], values, strict=True))


def best_of(league: tuple[int, float]) -> dict[str, tuple[float, float]]:
    """Return the point with the least loss in a league, by loss."""
    points = [(t, multiplier * t / PUBLISHED[0]) for t, multiplier in product(TS, AT_120)]
    means = {}
    for point in points:
        found = responses(*league, *point, CHOOSING)
        means[point] = {loss: float(found[loss].mean()) for loss in LOSSES}
    return {
        loss: min((point for point in points if point[0] in ts), key=lambda p: means[p][loss])
        for loss, ts in LOSSES.items()
    }


def of_thumb(games: int, spread: float) -> float:
    """Return what GAME_MULT at T 120 is proportional to by the rule of thumb."""
    return PUBLISHED[0] / (spread * math.sqrt(games))


def optima() -> None:
    """Write the best points of leagues, judged on other populations, beside the published one."""
    best = dict(zip(LEAGUES, counted("leagues", map(best_of, LEAGUES), len(LEAGUES)), strict=True))
    logs = [math.log(one["log_loss"][1] / of_thumb(*league)) for league, one in best.items()]
    factor = math.exp(sum(logs) / len(logs))
    rows: list[Sequence[object]] = []
    for league, loss in product(LEAGUES, LOSSES):
        points = best[league][loss], PUBLISHED, (PUBLISHED[0], factor * of_thumb(*league))
        chosen, published, rule = (responses(*league, *p, JUDGING)[loss] for p in points)
        row: list[object] = [*league, loss, OPTIMA_N, *points[0], float(chosen.mean())]
        for other in (published, rule):
            less = other - chosen
            row += [float(less.mean()), float(np.std(less, ddof=1)) / math.sqrt(OPTIMA_N)]
        rows.append([*row, factor])
    header = ("games_per_player", "true_spread", "loss", "n", "T", "GAME_MULT", "mean")
    others = ("published_less", "published_se", "rule_less", "rule_se", "rule_factor")
    write("optima.csv", (*header, *others), rows)


# ---- the page ----

DUELS, ALL = "zonestats", "zonestats-ffa"
WORDS = {DUELS: "duels", ALL: "free for all"}


def only(name: str, **cells: object) -> Mapping[str, str]:
    """Return the row of a file that has these cells."""
    (row,) = where(read(HERE / f"{name}.csv"), **cells)
    return row


def curves_table() -> str:
    """Return how the error falls."""
    games = (1, 10, 20, 30, 50, 100, 200)

    def cell(config: str, game: int) -> str:
        row = only("curves", config=config, measure="rating_error", game=game)
        return f"{float(row['mean']):.1f}"

    lines = ([WORDS[config], *(cell(config, game) for game in games)] for config in WORDS)
    return table(["games per player", *map(str, games)], lines)


def multipliers_table() -> str:
    """Return what GAME_MULT does at the published T."""
    lines = []
    for multiplier in MULTIPLIERS:
        cells = [f"{multiplier:g}{' (published)' * (multiplier == PUBLISHED[1])}"]
        for config in WORDS:
            at = {"config": config, "GAME_MULT": f"{multiplier:.6g}"}
            loss = only("multipliers", response="log_loss", **at)
            error = only("multipliers", response="rating_error", **at)
            less = [float(loss[key]) for key in ("less_published", "std_error_of_less")]
            cells += [f"{float(loss['mean']):.4f}", f"{less[0]:+.4f} ({less[1]:.4f})"]
            cells.append(f"{float(error['mean']):.1f}")
        lines.append(cells)
    own = ("log loss", "less published", "final error")
    return table(["GAME_MULT", *(f"{word}: {x}" for word in WORDS.values() for x in own)], lines)


def caps_table() -> str:
    """Return what either reading of the cap does."""
    lines = [
        [
            row["config"],
            row["cap"],
            f"{float(row['most_per_minute']):.1f}",
            f"{float(row['most_in_a_game']):.0f}",
            f"{float(row['capped_share']):.1%}",
            f"{float(row['rating_error']):.1f}",
            f"{float(row['log_loss']):.4f}",
        ]
        for row in read(HERE / "caps.csv")
    ]
    head = ["population", "cap", "most points a minute", "most in a game", "games capped"]
    return table([*head, "final error", "log loss"], lines)


def spreads_table() -> str:
    """Return how far ratings spread under each T."""
    lines = [
        [f"{held} held"]
        + [f"{float(only('spreads', held=held, T=f'{t:g}')['rating_spread']):.1f}" for t in SPREADS]
        for held in ("GAME_MULT", "GAME_MULT / T")
    ]
    return table(["", *(f"T {t:g}" for t in SPREADS)], lines)


def tuned_table() -> str:
    """Return what `optimize` recommends."""
    names = {"log_loss": "log loss", "mean_rating_error": "error over all games"}
    lines = [
        [
            names[row["objective"]],
            row["seed"],
            f"{float(row['T']):.1f}",
            f"{float(row['GAME_MULT']):.2f}",
            f"{float(row['ratio']):.4f}",
            f"{float(row['mean']):.4g}",
        ]
        for row in read(HERE / "tuned.csv")
    ]
    return table(["objective", "seed", "T", "GAME_MULT", "GAME_MULT / T", "mean"], lines)


def optima_table(loss: str, digits: int) -> str:
    """Return the best points of leagues, with intervals that hold together over the page."""
    width = half_widths(2 * len(LEAGUES) * len(LOSSES))
    lines = []
    for row in where(read(HERE / "optima.csv"), loss=loss):
        cells = [row[key] for key in ("games_per_player", "true_spread")]
        cells += [row["T"]] * (len(LOSSES[loss]) > 1) + [row["GAME_MULT"]]
        cells.append(f"{float(row['mean']):.{digits}f}")
        for other in ("published", "rule"):
            less, error = float(row[f"{other}_less"]), float(row[f"{other}_se"])
            cells.append(f"{less:+.{digits}f} ± {width * error:.{digits}f}")
        lines.append(cells)
    head = ["games a player", "true spread", *["best T"] * (len(LOSSES[loss]) > 1)]
    head += ["best GAME_MULT", "its loss", "published, more by", "rule of thumb, more by"]
    return table(head, lines)


def said_of_optima() -> str:
    """Say where the published point is near the best one, and what the rule of thumb loses."""
    width = half_widths(2 * len(LEAGUES) * len(LOSSES))
    rows = where(read(HERE / "optima.csv"), loss="log_loss")
    errors = where(read(HERE / "optima.csv"), loss="rating_error")
    lines = []
    for games in dict.fromkeys(games for games, _ in LEAGUES):
        own = [row for row in rows if row["games_per_player"] == str(games)]
        best = ", ".join(f"{row['GAME_MULT']} (true spread {row['true_spread']})" for row in own)
        lines.append(f"- {games:,} games a player: the best GAME_MULT at T 120 is {best}.\n")
    for other, words in (("published", "The published GAME_MULT"), ("rule", "The rule of thumb")):
        less = [float(row[f"{other}_less"]) for row in rows]
        worse = sum(float(row[f"{other}_less"]) > width * float(row[f"{other}_se"]) for row in rows)
        lines.append(
            f"- {words} predicts worse than the best by {min(less):.4f} to {max(less):.4f} of log"
            f" loss; that is shown in {worse} of {len(rows)} leagues.\n"
        )
    ts: dict[str, list[str]] = {row["true_spread"]: [] for row in errors}
    for row in errors:
        ts[row["true_spread"]].append(row["T"])
    found = "; ".join(
        f"{', '.join(own)} for a true spread of {spread}" for spread, own in ts.items()
    )
    lines.append(f"- The best T by the final error, from few games to many: {found}.\n")
    return "".join(lines)


def page() -> None:
    """Put the tables into the page."""
    texts = {
        "curves": curves_table(),
        "multipliers": multipliers_table(),
        "caps": caps_table(),
        "spreads": spreads_table(),
        "tuned": tuned_table(),
        "optima loss": optima_table("log_loss", 4),
        "optima error": optima_table("rating_error", 1),
        "optima said": said_of_optima(),
    }
    fill(HERE / "README.md", texts)


PARTS = {part.__name__: part for part in (curves, multipliers, caps, spreads, tuned, optima, page)}


if __name__ == "__main__":
    make_parts(__doc__, PARTS)
