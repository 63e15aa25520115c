"""Make the tables of the comparison with SimOpt's CHESS-1.

    PYTHON results/chess-1/make.py

PYTHON is an interpreter with the extra `simopt` and this repository installed in place, such as
the `.venv-simopt/bin/python` that `.ci/run` makes. It takes some 5 minutes, nearly all of them
SimOpt's. What is done is said on stderr.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from results.pages import add_page, counted, fill, parser, read, table
from tests.oracles.simopt_chess_1 import (
    simopt_model,
    simopt_replication,
    simopt_responses,
    simopt_streams,
)
from valmatch.config.loading import load
from valmatch.execution.simulator import build, run
from valmatch.models.model import Model
from valmatch.storage.output import write_csv

HERE = Path(__file__).parent
SETTINGS = ((515.8, 50.0), (515.8, 150.0), (200.0, 50.0), (200.0, 150.0))
"""Standard deviation of Elo, allowable difference."""
REPLICATIONS = 500
ROUNDS, ROUND = 10, 30
"""Rounds of the timing, in which each has its turn; replications in a round."""
RESPONSES = {"avg_diff": "avg_team_diff", "avg_wait_time": "avg_wait_time_all"}


def built(sd: float, diff: float) -> Model[Any]:
    """Return the model of the config `chess-1` at a setting."""
    return build(load("chess-1", [f"team_diff={diff}", f"cov_matrix.0.0={sd * sd!r}"]))


def agreement(sd: float, diff: float) -> list[dict[str, Any]]:
    """Return a line for each response at a setting."""
    model, theirs = built(sd, diff), simopt_model(diff, sd)
    made = [simopt_replication(theirs, k) for k in range(REPLICATIONS)]
    columns = {
        "avg_diff": ([one.avg_diff for one in made], [one.avg_diff for one in made]),
        "avg_wait_time": ([one.mended_wait for one in made], [one.avg_wait_time for one in made]),
    }
    names = [response.name for response in model.responses]
    found = run(model, 1, range(REPLICATIONS)).responses
    lines = []
    for response, (mended, released) in columns.items():
        ours = found[:, names.index(RESPONSES[response])]
        means = [float(np.mean(values)) for values in (mended, ours, released)]
        errors = [float(np.std(v, ddof=1)) / REPLICATIONS**0.5 for v in (mended, ours)]
        lines.append(
            {
                "elo_sd": sd,
                "allowable_diff": diff,
                "response": response,
                "simopt": means[0],
                "simopt_std_error": errors[0],
                "valmatch": means[1],
                "valmatch_std_error": errors[1],
                "std_errors_apart": (means[1] - means[0]) / float(np.hypot(*errors)),
                "simoptlib_1_2_4": means[2],
            }
        )
    return lines


def timing(sd: float, diff: float) -> dict[str, Any]:
    """Return the time of a replication of both, random numbers included: medians of rounds."""
    model, theirs = built(sd, diff), simopt_model(diff, sd)
    run(model, 1, range(ROUND))  # compiled
    seconds: dict[str, list[float]] = {"simopt": [], "valmatch": []}
    for k in range(ROUNDS):
        indices = range(k * ROUND, (k + 1) * ROUND)
        streams = [simopt_streams(index) for index in indices]
        start = time.perf_counter()
        for pair in streams:
            simopt_responses(theirs, pair)
        middle = time.perf_counter()
        run(model, 1, indices)
        seconds["simopt"].append((middle - start) / ROUND)
        seconds["valmatch"].append((time.perf_counter() - middle) / ROUND)
    one, other = (1e3 * float(np.median(values)) for values in seconds.values())
    return {
        "elo_sd": sd,
        "allowable_diff": diff,
        "simopt_ms": one,
        "valmatch_ms": other,
        "ratio": one / other,
    }


def numbers(row: dict[str, str]) -> dict[str, Any]:
    """Return a row with numbers, but for the name of the response."""
    return {key: text if key == "response" else float(text) for key, text in row.items()}


def agreement_table(lines: list[dict[str, str]]) -> str:
    """Return the first table of the page."""
    rows = []
    for line in map(numbers, lines):
        digits = 3 if line["response"] == "avg_diff" else 4
        pairs = [
            f"{line[source]:.{digits}f} ± {line[f'{source}_std_error']:.{digits}f}"
            for source in ("simopt", "valmatch")
        ]
        cells = [
            f"{line['elo_sd']:g}",
            f"{line['allowable_diff']:g}",
            line["response"],
            *pairs,
            f"{line['std_errors_apart']:+.1f}",
            f"{line['simoptlib_1_2_4']:.{digits}f}",
        ]
        rows.append(cells)
    head = ["Elo sd", "allowable_diff", "response", "SimOpt", "`chess-1`", "apart"]
    return table([*head, "simoptlib 1.2.4"], rows)


def timing_table(lines: list[dict[str, str]]) -> str:
    """Return the second table of the page."""
    rows = [
        [
            f"{line['elo_sd']:g}",
            f"{line['allowable_diff']:g}",
            f"{line['simopt_ms']:.2f} ms",
            f"{line['valmatch_ms']:.3f} ms",
            f"{line['ratio']:.0f}",
        ]
        for line in map(numbers, lines)
    ]
    return table(["Elo sd", "allowable_diff", "SimOpt", "`chess-1`", "ratio"], rows)


def main() -> None:
    """Make the CSV files and the tables of the page."""
    given = parser(__doc__)
    add_page(given, page)
    given.parse_args()
    agreements = counted("agreement", (agreement(*setting) for setting in SETTINGS), len(SETTINGS))
    timings = counted("timing", (timing(*setting) for setting in SETTINGS), len(SETTINGS))
    tables = {
        "agreement": [line for lines in agreements for line in lines],
        "timing": [*timings],
    }
    for name, lines in tables.items():
        write_csv(HERE / f"{name}.csv", {key: [line[key] for line in lines] for key in lines[0]})
    page()


def page() -> None:
    """Put the tables into the page."""
    shown = {"agreement": agreement_table, "timing": timing_table}
    texts = {name: shown_as(read(HERE / f"{name}.csv")) for name, shown_as in shown.items()}
    apart = max(abs(float(row["std_errors_apart"])) for row in read(HERE / "agreement.csv"))
    fill(HERE / "README.md", {**texts, "apart": f"{apart:.1f}"})


if __name__ == "__main__":
    main()
