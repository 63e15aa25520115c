"""A replication experiment: independent replications of one config, summarised."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.config.config import Config
from valmatch.config.identity import config_id
from valmatch.config.loading import ConfigLike, load
from valmatch.errors import InputError
from valmatch.execution.chunks import Chunks
from valmatch.execution.executors import Crew, open_crew
from valmatch.execution.interruption import Stop, stop_on_signal
from valmatch.execution.shards import WHOLE, Shard
from valmatch.model import Axes, Response
from valmatch.nearest import hint
from valmatch.simulator import build
from valmatch.statistics.control_variates import Adjusted, adjust
from valmatch.statistics.curve_sums import CurveSums
from valmatch.statistics.estimates import Estimate, estimate
from valmatch.statistics.precision import Precision, Target, looks, parse_target
from valmatch.statistics.windows import compare_windows
from valmatch.storage.curve_file import write_curves
from valmatch.storage.output import to_json, write_atomically
from valmatch.storage.run_folder import RunFolder
from valmatch.storage.store import ROWS, Store

__all__ = ["MAX_REPS", "Replications", "claim", "replicate", "write_results"]

Floats = NDArray[np.float64]
Warn = Callable[[str], None]

MAX_REPS = 1_000_000
"""Replications at which targets are given up, unless told otherwise."""


@dataclass(frozen=True)
class Replications:
    """Replications of a config.

    Attributes
    ----------
    config : what was simulated
    seed : seed of all random numbers
    requested : number of replications asked for, in all shards together
    responses : what each replication gives
    indices : the replications that are here, in order
    values : (n, len(responses)) float64, one row a replication; NaN where undefined
    confidence : level of the intervals
    axes, curves : what the curves of the model are, and their sums; None where it has none
    shard : the part of the replications asked for that this run makes
    status : "complete", or why it is not: "interrupted", "out of time", "target missed"
    precision : for each target, how precisely the mean is known
    controls : (n, q) float64, the control variates; None unless they were asked for
    expectations : their expectations by name
    """

    config: Config
    seed: int
    requested: int
    responses: Sequence[Response]
    indices: Sequence[int]
    values: Floats
    confidence: float
    axes: Axes | None = None
    curves: CurveSums | None = None
    shard: Shard = WHOLE
    status: str = "complete"
    precision: Sequence[Precision] = ()
    controls: Floats | None = None
    expectations: Mapping[str, float] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether all replications asked for are here, or all targets reached."""
        return self.status == "complete"

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """The estimated mean of each response."""
        columns = zip(self.responses, self.values.T, strict=True)
        return {response.name: estimate(v, self.confidence) for response, v in columns}

    @cached_property
    def adjusted(self) -> dict[str, Adjusted]:
        """The mean of each response adjusted by the control variates; {} without them."""
        if self.controls is None:
            return {}
        known = np.array(list(self.expectations.values()))
        found = adjust(self.values, self.controls, known, self.confidence)
        return {one.name: mean for one, mean in zip(self.responses, found, strict=True)}

    def __getitem__(self, response: str) -> Floats:
        """Return one number a replication; NaN where undefined."""
        names = [one.name for one in self.responses]
        if response not in names:
            raise KeyError(f"{response!r} ({hint(response, names)})")
        return self.values[:, names.index(response)]

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {
            "model": self.config.model,
            "config_id": config_id(self.config),
            "seed": self.seed,
            "replications": len(self.values),
            "requested": self.requested,
            **({} if self.shard == WHOLE else {"shard": str(self.shard)}),
            "responses": {
                name: {
                    **value.as_dict(),
                    **(self.adjusted[name].as_dict() if self.adjusted else {}),
                }
                for name, value in self.estimates.items()
            },
            **({"targets": [one.as_dict() for one in self.precision]} if self.precision else {}),
            **self._windows(),
        }

    def _windows(self) -> dict[str, Any]:
        """Return the parts of the summary that compare policies."""
        columns = zip(self.responses, self.values.T, strict=True)
        windows = {one.window: column for one, column in columns if one.window}
        return compare_windows(windows, self.confidence)

    def missed_expectations(self) -> list[str]:
        """Return one line for each mean that is not what the config expects."""
        lines = []
        for name, expected in self.config.replicate.expect.items():
            mean = self.estimates[name].mean
            if mean is None or abs(mean - expected.mean) > expected.tolerance:
                want = f"{expected.mean!r} ± {expected.tolerance!r}"
                lines.append(f"{name}: mean {mean!r} (expected {want})")
        return lines


def replicate(
    config: ConfigLike,
    n: int,
    seed: int = 1,
    *,
    workers: int = 1,
    executor: str = "local",
    scheduler: str | None = None,
    crew: Crew | None = None,
    stop: Stop | None = None,
    shard: Shard = WHOLE,
    confidence: float = 0.95,
    targets: Sequence[str] = (),
    max_reps: int = MAX_REPS,
    control_variates: bool = False,
    max_seconds: float = math.inf,
    out: Path | None = None,
    resume: bool = False,
    progress: Callable[[int], None] = lambda done: None,
    warn: Warn = lambda text: None,
) -> Replications:
    """Run replications 0..n-1 of a config, or a shard of them.

    SIGINT (Ctrl-C), SIGTERM and the end of the time end the run after the chunks at work: what is
    finished is kept, in the files and in the result. No result depends on workers, executor,
    shards or interruptions.

    Parameters
    ----------
    config : Config or what `valmatch.load` takes
        What to simulate.
    n : int
        Number of replications, >= 1, in all shards together; with targets the least one.
    seed : int
        Seed of all random numbers, >= 0.
    workers : int
        Worker processes; without effect where a Dask scheduler is given.
    executor : str
        ``local``: processes of this machine; ``dask``: the workers of a Dask scheduler.
    scheduler : str or None
        Address of that scheduler; None starts one with `workers` workers on this machine.
    crew : Crew or None
        Workers that are there already, instead of those that the options above describe.
    stop : Stop or None
        What ends this run as part of a larger one, instead of signals and `max_seconds`.
    shard : Shard
        The replications to make.
    confidence : float
        Level of the intervals, in (0, 1).
    targets : sequence of str
        ``NAME=1%`` or ``NAME=0.05`` each: go on until the half-width of the interval of the
        response is that share of its mean, or that number.
    max_reps : int
        Number of replications at which to give the targets up.
    control_variates : bool
        Whether to adjust the means by control variates, the sums over the players of a
        replication whose expectations are known.
    max_seconds : float
        Time after which to stop.
    out : Path or None
        Folder for ``replications.csv``, ``summary.json`` and ``manifest.json``.
    resume : bool
        Go on from what an earlier run left in `out`.
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
    config = load(config)
    model = build(config, warn=warn)
    _check_expected_names(config, model.responses)
    wanted = [parse_target(text, model.responses.names) for text in targets]
    if wanted and shard != WHOLE:
        raise InputError("--target: a shard cannot know when all of them together may stop")
    if control_variates and not model.controls:
        raise InputError(f"--control-variates: {config.model} has none with these arrivals")
    goals = [len(shard.indices(goal)) for goal in (looks(n, max_reps) if wanted else [n])]
    requested = max_reps if wanted else n
    indices = shard.indices(requested)
    with ExitStack() as stack:
        crew = crew or stack.enter_context(open_crew(executor, workers, scheduler))
        folder = None
        if out:
            folder = stack.enter_context(
                claim(out, config, seed, shard, len(indices), requested, resume)
            )
            if resume and (changed := folder.changed_versions()):
                warn(f"--out {out}: the run was begun with {changed}; results may differ")
        store = stack.enter_context(
            Store(
                config,
                seed,
                model,
                indices,
                out,
                controls=control_variates,
                resume=resume,
                warn=warn,
            )
        )
        stop = stop or stack.enter_context(stop_on_signal(max_seconds))
        progress(store.done)
        try:
            chunks = Chunks(crew, config, seed, control_variates, warn)
            precision = _advance(store, chunks, goals, wanted, confidence, stop, progress)
        finally:
            if folder:
                folder.note(replications=store.done)
        result = Replications(
            config,
            seed,
            requested,
            model.responses,
            indices[: store.done],
            store.values[: store.done],
            confidence,
            model.axes,
            store.curves,
            shard,
            _status(store.done, goals[-1], precision, stop),
            precision,
            None if store.controls is None else store.controls[: store.done],
            model.controls if control_variates else {},
        )
        if folder:
            write_results(folder, result)
    return result


def _advance(
    store: Store,
    chunks: Chunks,
    goals: Sequence[int],
    wanted: Sequence[Target],
    confidence: float,
    stop: Stop,
    progress: Callable[[int], None],
) -> list[Precision]:
    """Simulate up to the goal at which all targets are reached; return how precise means are."""
    precision: list[Precision] = []
    for goal in goals:
        # What an earlier run went past was not enough for it.
        if goal < store.done:
            continue
        _simulate(store, chunks, goal, stop, progress)
        values = store.values[: store.done]
        precision = [one.assess(values[:, one.column], confidence) for one in wanted]
        if stop.reason or (wanted and all(one.reached for one in precision)):
            break
    return precision


def _status(done: int, goal: int, precision: Sequence[Precision], stop: Stop) -> str:
    """Return how a run ended."""
    if precision and all(one.reached for one in precision):
        return "complete"
    if done < goal:
        return stop.reason
    return "target missed" if precision else "complete"


def claim(
    out: Path,
    config: Config,
    seed: int,
    shard: Shard,
    replications: int,
    requested: int,
    resume: bool,
) -> RunFolder:
    """Return the folder of a run of `replicate`, claimed."""
    identity = {"seed": seed, "shard": None if shard == WHOLE else str(shard)}
    return RunFolder(
        out,
        "replicate",
        config,
        identity,
        resume=resume,
        kept_in=ROWS,
        at_least={"replications": replications},
        facts={"requested": requested},
    )


def _simulate(
    store: Store, chunks: Chunks, goal: int, stop: Stop, progress: Callable[[int], None]
) -> None:
    """Simulate what a store lacks of its first `goal` replications."""
    for first, todo in store.gaps(goal):
        place = first
        with closing(chunks.run(todo, stop)) as batches:
            for batch in batches:
                before = store.done
                store.add(place, batch)
                place += len(batch.responses)
                progress(store.done - before)
        if place < first + len(todo):
            return


def write_results(folder: RunFolder, result: Replications) -> None:
    """Write all files but ``replications.csv`` itself, and say how the run ended."""
    if result.axes and result.curves:
        write_curves(folder.path, result.axes, result.curves)
    with write_atomically(folder.path / "summary.json") as file:
        file.write(to_json(result.summary()))
    folder.close(result.status, replications=len(result.values), confidence=result.confidence)


def _check_expected_names(config: Config, responses: Sequence[Response]) -> None:
    names = [response.name for response in responses]
    for name in config.replicate.expect:
        if name not in names:
            place = config.at(f"replicate.expect.{name}")
            raise InputError(f"{place}: {config.model} has no such response ({hint(name, names)})")
