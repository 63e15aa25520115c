"""The option that chooses which responses are shown, and has them computed where need be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from valmatch.inputs.csv_columns import cells_of

Chosen = Annotated[
    str,
    typer.Option(
        "--responses",
        metavar="NAME,...",
        help="Responses to show, such as wait_p95.top_1%; `valmatch responses` lists all.",
    ),
]


def names_of(chosen: str) -> list[str]:
    """Return the names in the option."""
    return cells_of(chosen)


def measure_levels(
    chosen: str, source: str, overrides: Sequence[str], levels: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the levels of a config with what has the chosen responses computed, too."""
    if not chosen:
        return list(levels)
    from valmatch.config.factor_paths import factor_at
    from valmatch.config.loading import load
    from valmatch.experiments.response_list import groups_of

    config = load(source, overrides, levels)
    groups = groups_of(names_of(chosen), config)
    if factor_at(type(config.factors), ["measure"]) is not None:
        groups = list(dict.fromkeys([*getattr(config.factors, "measure", ()), *groups]))
    measured = [("--responses", f"factors.measure=[{', '.join(groups)}]")] if groups else []
    return [*levels, *measured]
