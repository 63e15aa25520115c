"""Reading of optimisations for their figures: the files, the points drawn."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats
from valmatch.optimization.studies.solver_comparison import BEST_KNOWN
from valmatch.plots.parts.source import FileTable, Mean, RunFiles, damaged
from valmatch.plots.parts.style import BAD, FAINT, dots
from valmatch.text.terminal import labelled, shortened

Point = tuple[float, ...]

ANSWERS = {"true": "feasible", "false": "infeasible", "undecided": "undecided"}


def reference_of(solvers: Mapping[str, Any]) -> str:
    """Return what gaps are relative to, which summaries of former releases do not say."""
    return shortened(str(solvers.get("gap_to", BEST_KNOWN)))


class Bound(NamedTuple):
    """A constraint and what the point that the search came to gives."""

    name: str  # of the constraint
    response: str  # whose mean is bounded
    sense: str  # "<=" or ">="
    bound: float  # in the unit of the response
    found: Mean  # the mean of the point that the search came to

    def holds(self, means: Floats) -> NDArray[np.bool_]:
        """Return which means keep to the bound; an undefined one does not."""
        return means <= self.bound if self.sense == "<=" else means >= self.bound


class FinalPoint(NamedTuple):
    """What a search came to: a point, its means on fresh replications, the verdict."""

    point: Mapping[str, float]  # values of the variables
    objective: Mean  # its estimate
    bounds: Sequence[Bound]  # the constraints
    feasible: str  # a key of `ANSWERS`
    why: str  # the reason

    @property
    def of_log(self) -> bool:
        """Whether its means are of a log, of which every replication is the same."""
        return math.isnan(self.objective.low)

    @property
    def role(self) -> str:
        """What the point is called."""
        return "least violation" if self.feasible == "false" else "recommended"


class Candidates(NamedTuple):
    """The points of the searches."""

    points: Floats  # (n, variables): values of the variables
    objective: Floats  # (n,): mean over the replications that the search made; NaN where undefined
    bounded: Mapping[str, Floats]  # (n,): mean of the response of each constraint, by its name
    feasible: NDArray[np.bool_]  # (n,): whether all these means keep to their bounds


def final_point(run: RunFiles, found: Mapping[str, Any]) -> FinalPoint:
    """Read a verdict of ``summary.json``."""
    with damaged(run.folder / "summary.json"):
        best = found["recommended"] or found["least_violation"]
        bounds = [
            Bound(name, given["response"], given["sense"], float(given["bound"]), Mean.of(given))
            for name, given in best["constraints"].items()
        ]
        feasible = str(found["feasible"]).lower()
        if feasible not in ANSWERS:
            raise ValueError(f"feasible is {feasible}")
        point = {name: float(value) for name, value in best["point"].items()}
        return FinalPoint(point, Mean.of(best["objective"]), bounds, feasible, str(found["why"]))


def read_candidates(run: RunFiles, found: FinalPoint) -> Candidates:
    """Read the rows of ``candidates.csv`` that a search wrote."""
    bounds = {bound.name: bound for bound in found.bounds}
    table = run.table("candidates.csv", (*found.point, "objective", *bounds), ("stage",))
    searched = np.array([stage == "search" for stage in table.texts["stage"]], dtype=bool)
    objective = table.numbers["objective"][searched]
    bounded = {name: table.numbers[name][searched] for name in bounds}
    feasible = ~np.isnan(objective)
    for name, means in bounded.items():
        feasible &= bounds[name].holds(means)
    return Candidates(points_of(table, found)[searched], objective, bounded, feasible)


def points_of(table: FileTable, found: FinalPoint) -> Floats:
    """Return the points in the rows of a table, one row each."""
    return np.stack([table.numbers[name] for name in found.point], axis=1)


def objective_label(run: RunFiles, bounds: Sequence[Bound]) -> str:
    """Return the label of the objective, in the unit of its terms if they have one in common."""
    names = run.header("evaluations.csv")
    bounded = {bound.response for bound in bounds}
    with damaged(run.folder / "evaluations.csv"):
        terms = [name for name in names[names.index("replication") + 1 :] if name not in bounded]
    units = {run.units.of_response(name) for name in terms}
    return labelled("objective", units.pop() if len(units) == 1 else "")


def draw_points(axes: Axes, x: Floats, means: Floats, feasible: NDArray[np.bool_]) -> None:
    """Draw the means of the points of a search over any of their coordinates."""
    for own, colour, marker, label in (
        (~feasible, BAD, "x", "violates a bound in the search"),
        (feasible, FAINT, "o", "keeps to all bounds in the search"),
    ):
        edge = 1.0 if marker == "x" else 0.0
        properties = {"color": colour, "marker": marker, "markersize": 3.5, "markeredgewidth": edge}
        dots(axes, x[own], means[own], label=label, **properties)


def on_what(means: Sequence[Mean]) -> str:
    """Say what means were made from; those of a log have no intervals."""
    if all(math.isnan(mean.low) for mean in means):
        return "values on this log, which is one history"
    return f"means on fresh replications with {means[0].confidence:.0%} intervals"


def verdict(found: FinalPoint) -> str:
    """Say whether a point is feasible, and why."""
    return textwrap.shorten(f"{found.role}: {ANSWERS[found.feasible]}; {found.why}", 300)
