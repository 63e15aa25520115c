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
from valmatch.text.labels import labelled
from valmatch.text.terminal import shortened

Point = tuple[float, ...]

ANSWERS = {"true": "feasible", "false": "infeasible", "undecided": "undecided"}


def reference_of(solvers: Mapping[str, Any]) -> str:
    """Return what gaps are relative to, which summaries of former releases do not say."""
    return shortened(str(solvers.get("gap_to", BEST_KNOWN)))


class Bound(NamedTuple):
    """A constraint and what the point that the search came to gives.

    Attributes
    ----------
    name : str
        Of the constraint.
    response : str
        Whose mean is bounded.
    sense : str
        "<=" or ">=".
    bound : float
        In the unit of the response.
    found : Mean
        The mean of the point that the search came to.
    """

    name: str
    response: str
    sense: str
    bound: float
    found: Mean

    def holds(self, means: Floats) -> NDArray[np.bool_]:
        """Return which means keep to the bound; an undefined one does not."""
        return means <= self.bound if self.sense == "<=" else means >= self.bound


class FinalPoint(NamedTuple):
    """What a search came to: a point, its means on fresh replications, the verdict.

    Attributes
    ----------
    point : mapping of str to float
        Values of the variables.
    objective : Mean
        Its estimate.
    bounds : sequence of Bound
        The constraints.
    feasible : str
        A key of `ANSWERS`.
    why : str
        The reason.
    """

    point: Mapping[str, float]
    objective: Mean
    bounds: Sequence[Bound]
    feasible: str
    why: str

    @property
    def of_log(self) -> bool:
        """Whether its means are of a log, of which every replication is the same."""
        return math.isnan(self.objective.low)

    @property
    def role(self) -> str:
        """What the point is called."""
        return "least violation" if self.feasible == "false" else "recommended"


class Candidates(NamedTuple):
    """The points of the searches.

    Attributes
    ----------
    points : numpy.ndarray
        (n, variables): values of the variables.
    objective : numpy.ndarray
        (n,): mean over the replications that the search made; NaN where undefined.
    bounded : mapping of str to numpy.ndarray
        (n,): mean of the response of each constraint, by its name.
    feasible : numpy.ndarray
        (n,): whether all these means keep to their bounds.
    """

    points: Floats
    objective: Floats
    bounded: Mapping[str, Floats]
    feasible: NDArray[np.bool_]


def final_point(run: RunFiles, found: Mapping[str, Any]) -> FinalPoint:
    """Read a verdict of ``summary.json``.

    Raises
    ------
    InputError
        If it is damaged.
    """
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
    """Read the rows of ``candidates.csv`` that a search wrote.

    Raises
    ------
    InputError
        If the file is missing or damaged.
    """
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
