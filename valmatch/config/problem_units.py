"""The units of the numbers of a problem and of ranges: those of their factors and responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from valmatch.config.factor_paths import parts
from valmatch.config.problem_names import BOUNDS
from valmatch.inputs.fields import Factors, schema_at
from valmatch.models.registry import MODELS, load_model
from valmatch.text.durations import in_unit

BY_FACTOR = {("optimize", "variables"), ("design", "ranges")}
"""Sections and their mappings by factor; all numbers in these are in its unit."""


class ProblemUnits:
    """The units of what the sections of a config say of factors and responses.

    Parameters
    ----------
    model : str
        Name of the model; of one that does not exist, there are no units.
    factors : Factors or None
        Its factors, if they are valid.
    """

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
                found[name] = {k: self._number(one, [*path, k], given) for k, one in given.items()}
        return found

    def _number(self, value: object, path: Sequence[str | int], given: object) -> object:
        """Return a duration as a number; in any unit where what it is of will be refused."""
        if not isinstance(value, str):
            return value
        unit = self.unit(path, given)
        return in_unit(value, "hours" if unit is None else unit)

    def unit(self, path: Sequence[str | int], given: object) -> str | None:
        """Return the unit of the number at the path of a key.

        Parameters
        ----------
        path : sequence of str or int
            Section, mapping, name in it, key there.
        given : object
            What stands under that name.

        Returns
        -------
        str or None
            "" where it has none; None where there is no such model, factor or response.
        """
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
        return next((str(one["unit"]) for one in schemas if "unit" in one), "")

    def _of_response(self, name: object) -> str | None:
        """Return the unit of a response that the model has with these factors, or always."""
        model: Any = load_model(self._model)
        responses = list(getattr(model, "responses", ()))
        if self._factors is not None and hasattr(model, "further"):
            responses += model.further(self._factors)
        return next((one.unit for one in responses if one.name == name), None)
