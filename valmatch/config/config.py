"""A config: what to simulate and how, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from valmatch.fields import Factors

__all__ = ["Config"]


@dataclass(frozen=True)
class Config:
    """What to simulate, checked.

    Attributes
    ----------
    model : name of the model, a key of `MODELS`
    factors : all factors of the model, defaults filled in
    arrivals : file of arrivals that replaces the random ones, or None
    arrivals_given : that file as the config names it ("" without one)
    arrivals_sha256 : digest of its bytes when the config was loaded ("" without one)
    replicate : the options of ``replicate`` that the config gives, by their names
    optimize : likewise for ``optimize``
    design : the points of an experiment, if the config gives any
    source : the file, as errors show it
    warnings : settings that are valid but probably not meant, one located line each
    places : ``file:line:column`` of what is written, by dotted path
    """

    model: str
    factors: Factors
    arrivals: Path | None = None
    arrivals_given: str = ""
    arrivals_sha256: str = ""
    replicate: Mapping[str, Any] = field(default_factory=dict)
    optimize: Mapping[str, Any] = field(default_factory=dict)
    design: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    warnings: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict, compare=False)

    def at(self, path: str) -> str:
        """Return ``file:line:column: path``, with the place of the nearest thing written."""
        nearest = path
        while nearest and nearest not in self.places:
            nearest = nearest.rpartition(".")[0]
        return f"{self.places.get(nearest, self.source)}: {path}"
