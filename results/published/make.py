"""Make the tables, chart and page of this folder, as PLAN.md says: ten claims of others.

    python results/published/make.py --only 3

makes those of claim 3 again, and without `--only` all. The page says how many minutes each takes.
"""

from __future__ import annotations

import time
from functools import partial

from results.commands import save_chart
from results.published import ranks, rules, theory
from results.study import Row, Study
from valmatch.present.figures import style_context

study = Study(globals())

CLAIMS = {
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
"""By table what makes its rows, and what says what they come to."""


def make(name: str) -> None:
    """Run a claim: write its table, with the minutes that took, and draw its chart."""
    started = time.monotonic()
    rows = CLAIMS[name][0]()
    minutes = (time.monotonic() - started) / 60
    study.write(name, [row | {"minutes": minutes} for row in rows])
    if name == "5-sides":
        with style_context():
            save_chart(name, ranks.sides_chart(study.rows(name)), study.folder, 128)
    study.write("claims", [answer(claim) for claim in CLAIMS if study.rows(claim)])


def answer(name: str) -> Row:
    """Return our number with its interval, n, verdict and minutes of a claim, by its table."""
    rows = study.rows(name)
    cells = name.partition("-")[0], *CLAIMS[name][1](rows), rows[0]["minutes"]
    return dict(zip(("claim", "ours", "n", "verdict", "minutes"), cells, strict=True))


study.parts |= {name.partition("-")[0]: partial(make, name) for name in CLAIMS}

if __name__ == "__main__":
    study.main()
