"""The models by name; their code is imported when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from valmatch.errors import InputError
from valmatch.fields import Factors
from valmatch.models.opponent.factors import OpponentFactors
from valmatch.models.valorant.factors import ValorantFactors
from valmatch.models.zonestats.factors import ZoneStatsFactors
from valmatch.nearest import correction

__all__ = ["GROUP", "MODELS", "OWN", "ModelEntry", "load_model", "unknown_model"]


@dataclass(frozen=True)
class ModelEntry:
    """What is known of a model without importing its code.

    Attributes
    ----------
    factors : type, the class of its factors
    summary : what it simulates, in one line
    path : ``module:class`` of the model
    traces : whether the config key ``arrivals`` applies to it
    """

    factors: type[Factors]
    summary: str
    path: str
    traces: bool = False


GROUP = "valmatch.models"
"""Entry points by which other packages bring models: ``name = "module:entry"``."""


class _Models(Mapping[str, ModelEntry]):
    """The models of this package, and those that installed packages bring under `GROUP`.

    Other packages are looked at only for a name that this one does not have.
    """

    def __init__(self, own: dict[str, ModelEntry]) -> None:
        self._own = own

    @cached_property
    def _others(self) -> dict[str, EntryPoint]:
        points = entry_points(group=GROUP)
        return {point.name: point for point in points if point.name not in self._own}

    def __getitem__(self, name: str) -> ModelEntry:
        if name in self._own:
            return self._own[name]
        point = self._others[name]
        try:
            entry: ModelEntry = point.load()
        except Exception as error:
            raise InputError(
                f"model {name}: {point.value} cannot be imported: {type(error).__name__}: {error}"
            ) from error
        return entry

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from self._others

    def __len__(self) -> int:
        return len(self._own) + len(self._others)


OWN = {
    "valorant": ModelEntry(
        ValorantFactors,
        "players arrive, form teams of similar rating, and teams of similar mean are paired",
        "valmatch.models.valorant.model:ValorantModel",
        traces=True,
    ),
    "opponent": ModelEntry(
        OpponentFactors,
        "one player meets opponents of unknown skill, chosen by policies that learn",
        "valmatch.models.opponent.model:OpponentModel",
    ),
    "zonestats": ModelEntry(
        ZoneStatsFactors,
        "a population with latent skills plays games that ZoneStats rates",
        "valmatch.models.zonestats.model:ZoneStatsModel",
    ),
}

MODELS: Mapping[str, ModelEntry] = _Models(OWN)


def load_model(name: str) -> Any:  # noqa: ANN401 - the class of any model
    """Import and return the class of the model called `name`.

    Raises
    ------
    InputError
        If there is no such model.
    """
    if name not in MODELS:
        raise InputError(unknown_model(name))
    module, _, attribute = MODELS[name].path.partition(":")
    return getattr(importlib.import_module(module), attribute)


def unknown_model(name: str) -> str:
    """Say that there is no model called `name`, with what is meant or allowed."""
    return f"{name!r} is not a model (allowed: {', '.join(MODELS)}{correction(name, MODELS)})"
