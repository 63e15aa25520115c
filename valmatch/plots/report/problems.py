"""The problem of an optimisation in words, and verdicts on points as summaries hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from valmatch.inputs.fields import plain_number
from valmatch.plots.parts.source import RunFiles, damaged
from valmatch.plots.report.origin import run_name
from valmatch.plots.report.words import after, counted, estimate_of, joined, response_of
from valmatch.plots.sheets.optimization import Limit
from valmatch.storage.contents import MANIFEST

SUMMARY = "summary.json"

SENSES = {"at_most": "<=", "at_least": ">="}


def problem_in_words(run: RunFiles, swept: str = "", values: str = "") -> str:
    """Say what was asked of an optimisation, in one sentence."""
    with damaged(run.folder / MANIFEST):
        section: dict[str, Any] = run.manifest.get("optimize") or {}
        variables = joined(list(section.get("variables", ())))
        terms = section.get("objective") or {}
        pareto = run.manifest.get("pareto")
        aim = _terms(terms)
        if pareto:
            aim = f"trade off {joined([part.strip() for part in str(pareto).split(',')])}"
        elif not aim:
            aim = "is best"
        else:
            aim = f"minimises {aim}"
        bounds = [
            f"{one['response']} {sense} {values if name == swept else plain_number(one[key])}"
            f"{after(run.units.of_response(one['response']))}"
            for name, one in (section.get("constraints") or {}).items()
            for key, sense in SENSES.items()
            if one.get(key) is not None
        ]
    within = f" with {joined(bounds)}" if bounds else ""
    which = f"Which {variables}" if variables else "Which rule"
    aim = aim.replace("minimises", "minimise", 1) if " and " in variables else aim
    solver = f", solver {run.manifest.get('solver')}" if run.manifest.get("solver") else ""
    budget = run.manifest.budget
    spent = f", budget {counted(budget, 'replication')} a run" if budget else ""
    seed = f"seed {run.manifest.seed}"
    return f"{which} of {run_name(run)} {aim}{within}? {seed[:1].upper()}{seed[1:]}{spent}{solver}."


def _terms(terms: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a weighted sum of responses."""
    parts = []
    for term in terms.values():
        weight = float(term.get("weight", 1.0))
        factor = "" if weight == 1.0 else f"{plain_number(weight)} "
        if weight:
            parts.append(f"{factor}{term['response']}")
    return " + ".join(parts).replace("+ -", "- ")


def objective_in_words(run: RunFiles) -> str:
    """Say what the objective and the responses with bounds are."""
    with damaged(run.folder / MANIFEST):
        section: dict[str, Any] = run.manifest.get("optimize") or {}
        terms = section.get("objective") or {}
        bounded = [one["response"] for one in (section.get("constraints") or {}).values()]
        names = dict.fromkeys([term["response"] for term in terms.values()] + bounded)
        said = [f"objective: {_terms(terms)}, less is better"] if terms else []
    meanings = {name: response_of(run, name).meaning for name in names}
    return "; ".join([*said, *(f"{name}: {text}" for name, text in meanings.items() if text)])


def verdict_point(found: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the point of a verdict: the recommended one, or that of least violation."""
    return found.get("recommended") or found.get("least_violation")


def limits_of(best: Mapping[str, Any]) -> list[Limit]:
    """Return the bounds of a verdict with the means of their responses."""
    return [
        Limit(one["response"], one["sense"], float(one["bound"]), estimate_of(one))
        for one in best["constraints"].values()
    ]


def feasible_of(found: Mapping[str, Any]) -> bool | None:
    """Return the answer of a verdict, None for undecided."""
    answer = found["feasible"]
    return answer if isinstance(answer, bool) else None
