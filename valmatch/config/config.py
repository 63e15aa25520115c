"""A config: what to simulate and how, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from valmatch.config.sections import DesignOptions, OptimizeOptions, ReplicateOptions
from valmatch.inputs.fields import Factors
from valmatch.text.terminal import shortened


@dataclass(frozen=True)
class InputFile:
    """A file that a model reads."""

    path: Path  # where it is
    given: str  # as the config names it
    sha256: str  # digest of its bytes when the config was loaded


@dataclass(frozen=True)
class Config:
    """What to simulate, checked.

    Attributes
    ----------
    model : str
        Name of the model, a key of `MODELS`.
    factors : Factors
        All factors of the model, defaults filled in.
    files : mapping of str to InputFile
        The files that the model reads, by their keys in the config.
    replicate : ReplicateOptions
        The options of ``replicate`` that the config gives; None for those that it does not.
    optimize : OptimizeOptions
        Likewise for ``optimize``, with the problem.
    design : DesignOptions
        The points of an experiment, if the config gives any.
    source : str
        The file, as errors show it.
    warnings : tuple of str
        Settings that are valid but probably not meant, one located line each.
    places : mapping of str to str
        ``file:line:column`` of what is written, by dotted path.
    """

    model: str
    factors: Factors
    files: Mapping[str, InputFile] = field(default_factory=dict)
    replicate: ReplicateOptions = field(default_factory=lambda: ReplicateOptions.model_validate({}))
    optimize: OptimizeOptions = field(default_factory=lambda: OptimizeOptions.model_validate({}))
    design: DesignOptions = field(default_factory=lambda: DesignOptions.model_validate({}))
    source: str = ""
    warnings: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def one_history(self) -> bool:
        """Whether every replication is the same, as there is nothing to draw."""
        return self.factors.one_history(self.files.keys())

    def at(self, path: str) -> str:
        """Return ``file:line:column: path``, with the place of the nearest thing written."""
        place = path
        while place and place not in self.places:
            place = place.rpartition(".")[0]
        label = ".".join(map(shortened, path.split(".")))
        return f"{self.places.get(place, self.source)}: {label}"
