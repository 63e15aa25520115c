"""The numbers of an optimisation problem in a config: their names, and their units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from yaml import Node

from valmatch.config.factor_paths import parts
from valmatch.inputs.fields import Factors, schema_at
from valmatch.inputs.yaml_document import find, to_value
from valmatch.models.registry import MODELS, load_model
from valmatch.text.durations import in_unit

BOUNDS = ("at_most", "at_least")

BY_FACTOR = {("optimize", "variables"), ("design", "ranges")}
"""Sections and their mappings by factor; all numbers in these are in its unit."""


def problem_names(root: Node) -> dict[str, list[str]]:
    """Return the path of the bound of each constraint and of the weight of each term, by name."""
    paths = {name: ["optimize", "objective", name, "weight"] for name in _part(root, "objective")}
    for name, given in _part(root, "constraints").items():
        bounds = [key for key in BOUNDS if isinstance(given, dict) and given.get(key) is not None]
        if bounds:
            paths[name] = ["optimize", "constraints", name, bounds[0]]
    return paths


def _part(root: Node, key: str) -> dict[str, object]:
    node = find(root, ["optimize", key])
    found = to_value(node) if node is not None else None
    return found if isinstance(found, dict) else {}


class ProblemUnits:
    """The units of what the sections of a config say of factors and responses."""

    def __init__(self, model: str, factors: Factors | None) -> None:
        self._model, self._factors = model, factors

    def read(self, section: str, value: object) -> object:
        """Return a section in which durations that are written with a unit are plain numbers."""
        if not isinstance(value, dict):
            return value
        return {key: self._read(section, key, inner) for key, inner in value.items()}

    def _read(self, section: str, key: str, named: object) -> object:
        if not isinstance(named, dict):
            return named
        found: dict[str, object] = {}
        for name, given in named.items():
            found[name] = given
            if isinstance(given, dict):
                path = [section, key, name]
                found[name] = {
                    k: self._number(number, [*path, k], given) for k, number in given.items()
                }
        return found

    def _number(self, value: object, path: Sequence[str | int], given: object) -> object:
        """Return a duration as a number; in any unit where what it is of will be refused."""
        if not isinstance(value, str):
            return value
        unit = self.unit(path, given)
        return in_unit(value, "hours" if unit is None else unit)

    def unit(self, path: Sequence[str | int], given: object) -> str | None:
        """Return the unit of the number at the path of a key."""
        if len(path) != 4:
            return ""
        section, key, name, inner = map(str, path)
        bound = (section, key) == ("optimize", "constraints") and inner in BOUNDS
        if not (bound or (section, key) in BY_FACTOR):
            return ""
        if self._model not in MODELS:
            return None
        if not bound:
            return self._of_factor(name)
        return self._of_response(given.get("response") if isinstance(given, dict) else None)

    def _of_factor(self, name: str) -> str | None:
        """Return the unit of a factor; the elements of a list have that of the list."""
        path, factors = parts(name), MODELS[self._model].factors
        if not schema_at(factors, path):
            return None
        schemas = (schema_at(factors, path[:length]) for length in range(len(path), 0, -1))
        return next((str(schema["unit"]) for schema in schemas if "unit" in schema), "")

    def _of_response(self, name: object) -> str | None:
        """Return the unit of a response that the model has with these factors, or always."""
        model: Any = load_model(self._model)
        responses = list(getattr(model, "responses", ()))
        if self._factors is not None and hasattr(model, "further"):
            responses += model.further(self._factors)
        return next((response.unit for response in responses if response.name == name), None)
