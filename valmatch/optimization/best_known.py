"""The shipped problems: what each of them asks for, and the best that is known of it."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from valmatch.config.config import Config, ConstraintOptions
from valmatch.config.identity import config_id, problem_id
from valmatch.config.loading import load_config, shipped_configs
from valmatch.statistics.estimates import t_quantile

TABLE = "best-known.csv"


@dataclass(frozen=True)
class BestKnown:
    """The best point that is known of a shipped problem."""

    # whether it was certified; the point is one of least violation where nothing was
    feasible: bool
    # solver, date: what found it, and when
    solver: str
    date: str
    replications: int  # replications of all searches whose best it is
    n: int  # fresh replications of the point
    # mean with the ends of its 95 % interval: of the objective, of the constrained responses
    means: Mapping[str, tuple[float, float, float]]

    @property
    def objective(self) -> float | None:
        """The best known objective; None where no feasible point is known."""
        return self.means["objective"][0] if self.feasible else None

    def as_dict(self) -> dict[str, Any]:
        """Return what there is to say of it."""
        ends = dict(zip(("objective", "ci_low", "ci_high"), self.means["objective"], strict=True))
        return {
            "feasible": self.feasible,
            **(ends if self.feasible else {}),
            "noise": self.noise(),
            "solver": self.solver,
            "replications": self.replications,
            "date": self.date,
        }

    def noise(self) -> dict[str, float]:
        """Return the standard deviation of a replication of each mean."""
        scale = math.sqrt(self.n) / t_quantile(0.975, self.n - 1)
        return {name: scale * (high - low) / 2.0 for name, (_, low, high) in self.means.items()}


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
def _table() -> dict[str, BestKnown]:
    with table_file().open(newline="", encoding="utf-8") as file:
        return {row["config"]: _entry(row) for row in csv.DictReader(file)}


def _entry(row: Mapping[str, str]) -> BestKnown:
    """Return a row of the table."""
    columns = {name: (name, f"{name}_low", f"{name}_high") for name in row}
    means = {
        name: (float(row[mean]), float(row[low]), float(row[high]))
        for name, (mean, low, high) in columns.items()
        if low in row and row[mean]
    }
    counts = int(row["replications"]), int(row["n"])
    return BestKnown(row["feasible"] == "True", row["solver"], row["date"], *counts, means)


def best_known(config: Config) -> float | None:
    """Return the best known objective of a problem: the config's own, or that of a shipped one.

    A problem is a shipped one if it has the same factors, variables, objective and constraints.
    """
    if config.optimize.best_known is not None:
        return config.optimize.best_known
    ids = config_id(config), problem_id(config)
    for name, known in _table().items():
        shipped = load_config(name)
        if shipped.model == config.model and (config_id(shipped), problem_id(shipped)) == ids:
            return known.objective
    return None


def listed() -> list[dict[str, Any]]:
    """Return what there is to say of each shipped problem."""
    table = _table()
    return [
        {
            "problem": name,
            "model": config.model,
            "dimension": len(config.optimize.variables),
            "variables": list(config.optimize.variables),
            "constraints": [_shown(one) for one in config.optimize.constraints.values()],
            "best_known": table[name].as_dict() if name in table else None,
        }
        for name, config in shipped_problems().items()
    ]


def _shown(constraint: ConstraintOptions) -> str:
    sign, bound = constraint.sign_and_bound
    return f"{constraint.response} {'<=' if sign > 0 else '>='} {bound:g}"
