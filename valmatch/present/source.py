"""The folder of a run as drawers read it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from valmatch.config.factor_paths import parts, unchecked
from valmatch.errors import InputError, option
from valmatch.inputs.fields import schema_at
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Response
from valmatch.models.registry import MODELS, load_model
from valmatch.present.bins import Lattice, lattice_of_shares
from valmatch.statistics.estimates import Estimate, estimate
from valmatch.storage.contents import MANIFEST
from valmatch.storage.manifest import Manifest, read_manifest
from valmatch.storage.result_files import FileTable, ResultFiles, damaged
from valmatch.text.suggestions import hint
from valmatch.text.terminal import labelled, shown

# Units of responses and factors, for the labels of axes.


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


@dataclass(frozen=True)
class RunFiles(ResultFiles):
    """The folder of a run as chapters read it."""

    players: Sequence[str] = ()  # the players to be drawn, where that can be chosen; none: the best
    chosen: Sequence[str] = ()  # the responses to be drawn, where that can be chosen; none: all

    def choice(self, names: Collection[str]) -> list[str]:
        """Return which of some responses are to be drawn."""
        for name in self.chosen:
            if name not in names:
                raise InputError(
                    f"{option('responses')}: {shown(name)} is not in {self.folder}"
                    f" ({hint(name, names)})"
                )
        return list(self.chosen or names)

    @property
    def kind(self) -> tuple[str, str]:
        """The command and the model that made the folder; "" for no model."""
        config = self.manifest.config
        return self.manifest.command, config.model if config else ""

    @cached_property
    def units(self) -> Units:
        """The units of responses and factors."""
        config = self.manifest.config
        return Units(self.kind[1], config.factors if config else None)

    def factor(self, name: str, former: object = None) -> Any:  # noqa: ANN401 - of any type
        """Return a factor of the manifest."""
        with damaged(self.folder / MANIFEST):
            factors = self.manifest.config.factors if self.manifest.config else {}
            return factors[name] if former is None else factors.get(name, former)


def read_run_files(
    folder: Path, players: Sequence[str] = (), chosen: Sequence[str] = ()
) -> RunFiles:
    """Return the run that a folder with a manifest holds."""
    try:
        manifest = read_manifest(folder, Manifest)
        return RunFiles(folder, manifest, players, chosen or manifest.shown)
    except OSError as error:
        raise InputError(f"{folder / MANIFEST}: cannot be read: {error.strerror}") from None


# The responses of a run of ``replicate``, with what is known of their means.

SUMMARY = "summary.json"


class ResponseSample(NamedTuple):
    """A response over the replications."""

    response: Response  # the response
    values: Floats  # its defined values, sorted
    estimate: Estimate  # what they say of the mean
    lattice: Lattice | None  # what they lie on or near, if that is known


def read_samples(
    run: RunFiles, responses: Sequence[Response], most: int | None = None
) -> list[ResponseSample]:
    """Read responses of ``replications.csv``, of which there is one at least."""
    wholes = [response.share_of for response in responses if response.share_of]
    columns = dict.fromkeys([*(r.name for r in responses), *wholes])
    table = run.table("replications.csv", columns, most=most)
    if not len(table):
        why = f" ({run.remark})" if run.remark else ""
        raise InputError(f"{table.path}: holds no replications{why}")
    given = _summarised(run, len(table))
    return [
        _sample(response, table, _confidence(run), given.get(response.name))
        for response in responses
    ]


def _confidence(run: RunFiles) -> float:
    return run.manifest.confidence or 0.95


def _summarised(run: RunFiles, replications: int) -> dict[str, Mapping[str, Any]]:
    """Return the means of the summary by response, if it is of so many replications.

    Only whoever made a run knows what its replications are samples of. A killed run has no summary,
    or that of a shorter one.
    """
    if not (run.folder / SUMMARY).exists():
        return {}
    with damaged(run.folder / SUMMARY):
        found: dict[str, Mapping[str, Any]] = run.json(SUMMARY)["responses"]
        return {k: one for k, one in found.items() if one["n"] + one["undefined"] == replications}


def _sample(
    response: Response, table: FileTable, confidence: float, given: Mapping[str, Any] | None
) -> ResponseSample:
    """Return a response with its estimate: that of the summary where there is one."""
    values = table.numbers[response.name]
    found = estimate(values, confidence)
    if given is not None:
        found = replace(found, **{key: given[key] for key in ("mean", "ci_low", "ci_high")})
    return ResponseSample(
        response, np.sort(values[~np.isnan(values)]), found, _lattice(response, table)
    )


def _lattice(response: Response, table: FileTable) -> Lattice | None:
    """Return what whole numbers and shares of them lie on or near."""
    if response.whole:
        return Lattice(0.0, 1.0)
    if not response.share_of:
        return None
    shares, wholes = table.numbers[response.name], table.numbers[response.share_of]
    some = ~np.isnan(shares) & (wholes > 0.0)
    return lattice_of_shares(shares[some], wholes[some]) if some.any() else None


def response_of(run: RunFiles, name: str) -> Response:
    """Return what is known of a response, of a model that knows it no more its name."""
    found = run.units.responses.get(name)
    return found or Response(name, run.units.of_response(name), "")
