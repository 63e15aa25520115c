"""Optimisations: the search of one run, the comparison of solvers, the frontier of a sweep."""

from __future__ import annotations

from matplotlib.figure import Figure

from valmatch.errors import InputError
from valmatch.plots.optimization import pareto_front, search, slices, solvability, solvers, sweep
from valmatch.plots.optimization.reading import final_point
from valmatch.plots.parts.source import RunFiles


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw what ``optimize`` wrote: a sweep, several objectives, several runs, or one."""
    if run.manifest.get("sweep"):
        return {"frontier": sweep.draw(run)}
    if run.manifest.get("pareto"):
        return {"front": pareto_front.draw(run)}
    summary = run.json("summary.json")
    if not (summary.get("recommended") or summary.get("least_violation")):
        why = f" ({run.remark})" if run.remark else ""
        raise InputError(f"{run.folder / 'summary.json'}: no run was finished{why}")
    found = final_point(run, summary)
    if "solvers" in summary:
        first = {"progress": solvers.draw(run, summary)}
        profiles = solvability.draw(run, summary)
        if profiles is not None:
            first["solvability"] = profiles
    else:
        first = {"search": search.draw(run, found)}
    return {**first, "slices": slices.draw(run, found)}
