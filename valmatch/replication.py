"""A replication experiment: independent replications of one config, summarised."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from valmatch.config import Config, config_id
from valmatch.errors import InputError, RunError
from valmatch.interruption import stop_on_signal
from valmatch.output import cell, to_json, write_atomically, write_csv
from valmatch.run_folder import RunFolder
from valmatch.simulator import Axes, Response, build
from valmatch.statistics import CurveSums, Estimate, estimate
from valmatch.windows import compare_windows
from valmatch.workers import run_chunks

__all__ = ["Replications", "replicate"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Replications:
    """The replications 0, 1, ... of a config.

    Attributes
    ----------
    config : what was simulated
    seed : seed of all random numbers
    requested : number of replications asked for; fewer are here if the run was interrupted
    responses : what each replication gives
    values : (n, len(responses)) float64, one row a replication; NaN where undefined
    confidence : level of the intervals
    axes, curves : what the curves of the model are, and their sums; None where it has none
    """

    config: Config
    seed: int
    requested: int
    responses: Sequence[Response]
    values: Floats
    confidence: float
    axes: Axes | None = None
    curves: CurveSums | None = None

    @property
    def complete(self) -> bool:
        """Whether all replications asked for are here."""
        return len(self.values) == self.requested

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """The estimated mean of each response."""
        columns = zip(self.responses, self.values.T, strict=True)
        return {response.name: estimate(v, self.confidence) for response, v in columns}

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {
            "model": self.config.model,
            "config_id": config_id(self.config),
            "seed": self.seed,
            "replications": len(self.values),
            "requested": self.requested,
            "responses": {name: value.as_dict() for name, value in self.estimates.items()},
            **compare_windows(self.responses, self.values, self.confidence),
        }

    def missed_expectations(self) -> list[str]:
        """Return one line for each mean that is not what the config expects."""
        lines = []
        for name, expected in self.config.replicate.get("expect", {}).items():
            mean = self.estimates[name].mean
            if mean is None or abs(mean - expected["mean"]) > expected["tolerance"]:
                want = f"{expected['mean']!r} ± {expected['tolerance']!r}"
                lines.append(f"{name}: mean {mean!r} (expected {want})")
        return lines


def replicate(
    config: Config,
    n: int,
    seed: int = 1,
    *,
    workers: int = 1,
    confidence: float = 0.95,
    out: Path | None = None,
    progress: Callable[[int], None] = lambda done: None,
    warn: Callable[[str], None] = lambda text: None,
) -> Replications:
    """Run replications 0..n-1 of a config.

    SIGINT (Ctrl-C) and SIGTERM end the run after the chunk in flight: what is finished is kept,
    in the files and in the result.

    Parameters
    ----------
    config : Config
        What to simulate.
    n : int
        Number of replications, >= 1.
    seed : int
        Seed of all random numbers, >= 0.
    workers : int
        Worker processes; no result depends on it.
    confidence : float
        Level of the intervals, in (0, 1).
    out : Path or None
        Folder for ``replications.csv``, ``summary.json`` and ``manifest.json``.
    progress : callable
        Called with the number of further replications done.
    warn : callable
        Called with each remark on the input.

    Raises
    ------
    InputError
        If the input of the model or the folder cannot be used.
    RunError
        If the run fails; what is finished stays in the folder.
    """
    model = build(config)
    _check_expected_names(config, model.responses)
    for remark in model.warnings:
        warn(remark)
    folder = RunFolder(out, "replicate", config, {"seed": seed}) if out else None
    rows: list[Floats] = []
    curves = CurveSums.zeros(model.axes.shape) if model.axes else None
    try:
        with (
            _RowWriter(folder, config, seed, model.responses) as writer,
            closing(run_chunks(model, config, seed, range(n), workers)) as chunks,
            stop_on_signal() as stop,
        ):
            for batch in chunks:
                writer.append(batch.responses)
                rows.append(batch.responses)
                if curves is not None and batch.curves is not None:
                    curves.merge(batch.curves)
                progress(len(batch.responses))
                if stop():
                    break
    except RunError:
        if folder:
            with suppress(RunError):  # the disk may be full
                folder.close("failed", replications=sum(map(len, rows)))
        raise
    values = np.concatenate(rows) if rows else np.empty((0, len(model.responses)))
    result = Replications(config, seed, n, model.responses, values, confidence, model.axes, curves)
    if folder:
        if result.axes and result.curves:
            write_csv(folder.path / "curves.csv", _curve_columns(result.axes, result.curves))
        with write_atomically(folder.path / "summary.json") as file:
            file.write(to_json(result.summary()))
        status = "complete" if result.complete else "interrupted"
        folder.close(status, replications=len(values), requested=n, confidence=confidence)
    return result


def _curve_columns(axes: Axes, curves: CurveSums) -> dict[str, Sequence[Any]]:
    """Return the columns of ``curves.csv``: a row for each policy, measure and game."""
    keys = list(product(axes.policies, axes.measures, range(1, axes.games + 1)))
    scales = np.array(axes.scales)[:, np.newaxis]
    return {
        "policy": [policy for policy, _, _ in keys],
        "game": [game for _, _, game in keys],
        "measure": [measure for _, measure, _ in keys],
        "n": [curves.n] * len(keys),
        "mean": (scales * curves.mean).ravel().tolist(),
        "std_error": (scales * curves.std_error).ravel().tolist(),
    }


def _check_expected_names(config: Config, responses: Sequence[Response]) -> None:
    names = [response.name for response in responses]
    for name in config.replicate.get("expect", {}):
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]}?" if near else f"allowed: {', '.join(names)}"
            place = config.at(f"replicate.expect.{name}")
            raise InputError(f"{place}: {config.model} has no such response ({hint})")


class _RowWriter:
    """Appends replications to ``replications.csv``, each chunk on disk before the next."""

    def __init__(
        self, folder: RunFolder | None, config: Config, seed: int, responses: Sequence[Response]
    ) -> None:
        self._path = folder.path / "replications.csv" if folder else None
        self._start = f"{config_id(config)},{seed},"
        self._responses = responses
        self._file: TextIO | None = None
        self._done = 0

    def __enter__(self) -> _RowWriter:
        if self._path:
            names = ",".join(response.name for response in self._responses)
            try:
                self._file = self._path.open("w", encoding="utf-8", newline="")
            except OSError as error:
                raise RunError(f"{self._path}: cannot be written: {error.strerror}") from None
            self._write(f"config_id,seed,replication,{names}\n")
        return self

    def __exit__(self, *exception: object) -> None:
        if self._file:
            with suppress(OSError):  # everything was flushed; a full disk was reported then
                self._file.close()

    def append(self, chunk: Floats) -> None:
        """Write the next replications."""
        if not self._file:
            return
        lines = []
        for number, row in enumerate(chunk.tolist(), self._done):
            cells = (cell(v, r.whole) for v, r in zip(row, self._responses, strict=True))
            lines.append(f"{self._start}{number},{','.join(cells)}\n")
        self._done += len(chunk)
        self._write("".join(lines))

    def _write(self, text: str) -> None:
        assert self._file is not None
        try:
            self._file.write(text)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise RunError(f"{self._path}: cannot be written: {error.strerror}") from None
