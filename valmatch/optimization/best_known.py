"""The shipped problems: what each of them asks for, and the best that is known of it."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from valmatch.config.config import Config
from valmatch.config.identity import config_id, problem_id
from valmatch.config.loading import load_config, shipped_configs
from valmatch.statistics.estimates import t_quantile

TABLE = "best-known.csv"


def table_file() -> Path:
    """Return the table that ``results/best-known/make.py`` writes."""
    package = Path(__file__).parents[1]
    # Installed, it lies inside the package, beside the configs.
    inside = package / "configs" / TABLE
    return inside if inside.is_file() else package.parent / "results" / "best-known" / TABLE


def shipped_problems() -> dict[str, Config]:
    """Return the shipped configs that pose a problem, by name."""
    configs = {name: load_config(name) for name in shipped_configs()}
    return {name: config for name, config in configs.items() if config.optimize.variables}


@cache
def _table() -> dict[str, dict[str, Any]]:
    """Return what there is to say of the best known point of each problem, by its config."""
    with table_file().open(newline="", encoding="utf-8") as file:
        return {row["config"]: _entry(row) for row in csv.DictReader(file)}


def _entry(row: Mapping[str, str]) -> dict[str, Any]:
    """Return what a row says: of a point of least violation where nothing was certified."""
    feasible, n = row["feasible"] == "True", int(row["n"])
    scale = math.sqrt(n) / t_quantile(0.975, n - 1)  # intervals are of 95 %
    objective = {"objective": "objective", "ci_low": "objective_low", "ci_high": "objective_high"}
    return {
        "feasible": feasible,
        **({key: float(row[column]) for key, column in objective.items()} if feasible else {}),
        # the standard deviation of a replication of each mean
        "noise": {
            name: scale * (float(row[f"{name}_high"]) - float(row[f"{name}_low"])) / 2.0
            for name in row
            if f"{name}_low" in row and row[name]
        },
        "solver": row["solver"],
        "replications": int(row["replications"]),  # of all searches whose best it is
        "date": row["date"],
    }


def best_known(config: Config) -> float | None:
    """Return the best known objective of a problem: the config's own, or that of a shipped one."""
    # A problem is a shipped one if it has the same factors, variables, objective and constraints.
    if config.optimize.best_known is not None:
        return config.optimize.best_known
    ids = config_id(config), problem_id(config)
    for name, known in _table().items():
        shipped = load_config(name)
        if shipped.model == config.model and (config_id(shipped), problem_id(shipped)) == ids:
            return known.get("objective")
    return None


def listed() -> list[dict[str, Any]]:
    """Return what there is to say of each shipped problem."""
    table = _table()
    problems = []
    for name, config in shipped_problems().items():
        section = config.optimize
        bounds = section.constraints.values()
        problems.append(
            {
                "problem": name,
                "model": config.model,
                "dimension": len(section.variables),
                "variables": list(section.variables),
                "constraints": [f"{c.response} {c.sense} {c.bound:g}" for c in bounds],
                "best_known": table.get(name),
            }
        )
    return problems
