"""Units of responses and factors, for the labels of axes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from valmatch.config.factor_paths import parts, unchecked
from valmatch.errors import InputError
from valmatch.inputs.fields import schema_at
from valmatch.models.model import Response
from valmatch.models.registry import MODELS, load_model
from valmatch.text.labels import labelled


class Units:
    """The units of the responses and factors of a model."""

    def __init__(self, model: str, factors: object = None) -> None:
        self._model, self._factors = model, factors

    @cached_property
    def responses(self) -> dict[str, Response]:
        """The responses of the model by name."""
        if not self._model:
            return {}
        model: Any = load_model(self._model)
        # Most models have the same responses whatever their factors are.
        fixed = getattr(model, "responses", None)
        if fixed is None:
            try:
                factors = MODELS[self._model].factors.model_validate(self._factors or {})
            except ValidationError as error:
                what = error.errors(include_url=False)[0]
                place = ("factors", *what["loc"])
                raise InputError(
                    f"manifest.json: config: {'.'.join(map(str, place))}: {what['msg']}"
                ) from None
            fixed = model(factors, {}).responses
        elif isinstance(self._factors, dict):
            try:
                factors = unchecked(MODELS[self._model].factors, self._factors)
                fixed = (*fixed, *model.further(factors))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise InputError(f"manifest.json: config: factors: damaged: {error}") from None
        return {response.name: response for response in fixed}

    @cached_property
    def _stems(self) -> dict[str, str]:
        """The units by the first part of a response's name, for windows of other factors."""
        return {name.partition(".")[0]: response.unit for name, response in self.responses.items()}

    @cached_property
    def _curves(self) -> Mapping[str, str]:
        """The units of what curves show and no response is."""
        axes = getattr(load_model(self._model), "axes", None) if self._model else None
        return axes.units if axes else {}

    def of_response(self, name: str) -> str:
        """Return the unit of a response; "" where it has none."""
        if name in self.responses:
            return self.responses[name].unit
        return self._stems.get(name.partition(".")[0], "")

    def of_factor(self, name: str) -> str:
        """Return the unit of a factor, given with or without ``factors.``; "" where none."""
        if self._model not in MODELS:
            return ""
        path, factors = parts(name.removeprefix("factors.")), MODELS[self._model].factors
        # The elements of a list have the unit of the list.
        schemas = (schema_at(factors, path[:length]) for length in range(len(path), 0, -1))
        return next((str(schema["unit"]) for schema in schemas if "unit" in schema), "")

    def response(self, name: str) -> str:
        """Return the label of a response."""
        return labelled(name, self.of_response(name))

    def measure(self, name: str) -> str:
        """Return the label of what a curve shows."""
        return labelled(name, self._curves.get(name) or self.of_response(name))

    def factor(self, name: str) -> str:
        """Return the label of a factor."""
        return labelled(name.removeprefix("factors."), self.of_factor(name))
