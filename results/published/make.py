"""Make the tables, chart and page of this folder, as PLAN.md says: ten claims of others.

    python results/published/make.py --only 3

makes those of claim 3 again, and without `--only` all. The page says how many minutes each takes.
"""

import time
from functools import partial

import numpy as np
import yaml

from results.published import ranks, rules, theory
from results.study import Row, Study, group, marks, numbers
from valmatch.present.figures import COLOURS

study = Study(globals())

CLAIMS = {  # by table what makes its rows, and what says what they come to
    "1-elo": (theory.elo, theory.elo_summary),
    "2-windows": (theory.windows, theory.windows_summary),
    "3-traffic": (theory.traffic, theory.traffic_summary),
    "4-parties": (rules.parties, rules.parties_summary),
    "5-sides": (ranks.sides, ranks.sides_summary),
    "6-waiting": (theory.waiting, theory.waiting_summary),
    "7-tiers": (rules.tiers, rules.tiers_summary),
    "8-faf": (rules.faf, rules.faf_summary),
    "9-evo": (rules.evo, rules.evo_summary),
    "10-leader": (ranks.leader, ranks.leader_summary),
}

CHARTS = yaml.safe_load((study.folder / "charts.yaml").read_text(encoding="utf-8"))


def make(name: str) -> None:
    """Run a claim: write its table, with the minutes that took, and draw its chart."""
    started = time.monotonic()
    rows = CLAIMS[name][0]()
    minutes = (time.monotonic() - started) / 60
    study.write(name, [row | {"minutes": minutes} for row in rows])
    if name in CHARTS:
        draw(name)
    study.write("claims", [answer(claim) for claim in CLAIMS if study.rows(claim)])


def draw(name: str) -> None:
    """Draw the chart of a claim as `charts.yaml` says."""
    chart = CHARTS[name]
    rows = study.rows(name, **chart.get("rows", {}))
    with study.chart(name) as (axis,):
        for number, ((series,), own) in enumerate(group(rows, chart["by"]).items()):
            theory, mean, *ends = (numbers(own, one) for one in chart["columns"])
            names = [" x ".join(row[name] for name in chart["x"]) for row in own]
            x = names if len(chart["x"]) > 1 else [*map(float, names)]
            low, high = ends if len(ends) > 1 else (mean - ends[0], mean + ends[0])
            style = {"color": COLOURS[number], "label": series, "linestyle": ""}
            marks(axis, x, np.column_stack([mean, low, high]), **style)
            axis.plot(x, theory, ":", color=COLOURS[number])
        if "band" in chart:
            axis.fill_between(x, theory, chart["band"] * theory, color=COLOURS[5], alpha=0.4, lw=0)
        axis.plot([], [], "k:", label=chart["theory"])
        axis.set(yscale="log", **chart["axes"])
        axis.yaxis.set_major_formatter("{x:,g}")
        if "xticks" in chart["axes"]:
            axis.xaxis.set_major_formatter("{x:,g}")
        axis.minorticks_off()
        axis.legend()


def answer(name: str) -> Row:
    """Return our number with its interval, n, verdict and minutes of a claim, by its table."""
    rows = study.rows(name)
    if not rows:
        missing = [claim.partition("-")[0] for claim in CLAIMS if not study.rows(claim)]
        raise ValueError(f"run with {' '.join(f'--only {number}' for number in missing)}")
    cells = name.partition("-")[0], *CLAIMS[name][1](rows), rows[0]["minutes"]
    return dict(zip(("claim", "ours", "n", "verdict", "minutes"), cells, strict=True))


study.parts |= {name.partition("-")[0]: partial(make, name) for name in CLAIMS}

if __name__ == "__main__":
    study.main()
