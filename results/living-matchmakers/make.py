"""Make the tables, the chart and the page of this folder, as PLAN.md says: five living matchmakers.

    python results/living-matchmakers/make.py

takes some ten minutes on one core. `duels`, `twos`, `threes` and `eight` run the rules on the same
players, `faf`, `bar`, `shieldbattery`, `osu` and `lichess` what maintainers ask, which stands in
`commands.yaml`. `list` prints all commands, `chart` draws.
"""

from typing import Any

from results.commands import Rows, add_questions, read_commands, run_table
from results.study import Study, group, marks
from valmatch.present.figures import COLOURS

study = Study(globals(), digits=6)

MARKERS = "osD^v"  # marks of rules in the chart
WAIT, GAP = "time_to_match", "win_gap"
Measured = dict[str, dict[str, tuple[float, float, float]]]


def measured(rows: Rows) -> Measured:
    """Return mean, low and high of each response of each rule."""
    found: Measured = {}
    for row in rows:
        if row["low"]:
            numbers = float(row["mean"]), float(row["low"]), float(row["high"])
            found.setdefault(row["run"], {})[row["response"]] = numbers
    return found


def on_front(rule: str, found: Measured) -> bool:
    """Return whether no other rule has, shown, both a shorter mean wait and a smaller win gap."""
    own = found[rule]
    return not any(
        all(other[name][2] < own[name][1] for name in (WAIT, GAP)) for other in found.values()
    )


@study.part
def chart() -> None:
    """Draw wait against fairness in duels, a panel for each population; fronts are filled."""
    by_point = group(study.rows("duels"), "point")
    with study.chart("duels", len(by_point), 3.0, 2.6) as axes:
        for axis, ((point,), rows) in zip(axes, by_point.items(), strict=True):
            found = measured(rows)
            for number, (rule, own) in enumerate(found.items()):
                colour = COLOURS[number]
                face = colour if on_front(rule, found) else "none"
                style: Any = {"color": colour, "markerfacecolor": face, "markersize": 5}
                style |= {"marker": MARKERS[number], "linestyle": "", "linewidth": 0.8}
                marks(axis, [own[WAIT]], [own[GAP]], label=rule, **style)
            axis.set(title=f"{float(point):,g} players an hour", xlabel="mean wait [s]")
        axes[0].set_ylabel("win_gap")
        axes[0].legend(fontsize=7)


def side_by_side(name: str) -> str:
    """Return the table of rules on the same players, in order of the population; * on the front."""
    shown = []
    for (point,), rows in group(study.rows(name), "point").items():
        front = measured([row for row in rows if name != "eight" or row["run"] != "osu"])
        for row in rows:
            star = " *" if row["run"] in front and on_front(row["run"], front) else ""
            label = f"{float(point):,g} an hour: `{row['run']}`{star}"
            shown.append(row | {"run": name, "point": label})
    return run_table(shown)


add_questions(study, read_commands(study.folder / "commands.yaml"))

if __name__ == "__main__":
    study.main()
