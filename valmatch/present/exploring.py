"""Sweeps for a page with sliders: `explore`."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from valmatch.config.config import Config
from valmatch.config.factor_paths import dotted, parts
from valmatch.config.identity import config_id, resolved
from valmatch.config.loading import ConfigLike, load_config
from valmatch.errors import InputError, option
from valmatch.execution.chunks import build
from valmatch.execution.run_options import EXPLORED, ExploreArguments
from valmatch.execution.shards import WHOLE
from valmatch.experiments.replicate import Plan, default_n, plan_of
from valmatch.experiments.sweep import Design, DesignReplications, grid_of_texts, run_design
from valmatch.inputs.options import refuse, takes
from valmatch.present.document import headline
from valmatch.present.experiments import MOST_POINTS
from valmatch.present.html import html_of
from valmatch.present.reporting import SUFFIXES, chapter_of, refuse_file
from valmatch.storage.output import write_bytes

Grid = tuple[Design, Sequence[Config], Plan]  # points as factors and as configs


@takes(ExploreArguments)
def explore(
    config: ConfigLike,
    over: Mapping[str, Sequence[Any]] | Sequence[str],
    n: int | None = None,
    seed: int | None = None,
    **options: Any,  # noqa: ANN401
) -> str:
    """Replicate at every point of a grid and make a web page with a slider for each factor.

    All points meet the same random numbers. The page shows the mean of each response with its
    interval, and the paired difference to the config as it is, which is a point of its own where
    the grid lacks it. It loads nothing.

    Parameters
    ----------
    config : str, path or mapping
        What `valmatch.load_config` takes but for a `Config`: the rule of today.
    over : mapping of str to sequence, or sequence of str
        Two or more values of each factor; or texts such as ``team_diff=100:600:50``.
    n : int or None
        Number of replications of each point, >= 1; None: 200, or as the config says.
    seed : int or None
        Seed of all random numbers, >= 0; None: 1.
    **options

    Returns
    -------
    str
        The page, as `valmatch.report` of the folder makes it; "" of a shard.

    Raises
    ------
    InputError
        If an argument or the input of the model cannot be used, a factor has a single value, or
        there are more than 5,000 points.
    RunError
        If the run fails; what is finished stays in the folder.
    """
    if isinstance(over, Mapping):
        texts = {key: json.dumps(values, default=_plain) for key, values in over.items()}
        over = [f"{key}={text[1:-1] if text[0] == '[' else text}" for key, text in texts.items()]
    settings = ExploreArguments(n=n, seed=seed, over=over, **options)
    base = load_config(config)
    grid = grid_of(base, settings, lambda levels: load_config(config, (), levels))
    return run_grid(base, grid, settings.in_config(base.replicate))[1]


def _plain(values: Any) -> object:  # noqa: ANN401
    return values.tolist() if hasattr(values, "tolist") else list(values)


def grid_of(
    config: Config, options: ExploreArguments, load: Callable[[Sequence[tuple[str, str]]], Config]
) -> Grid:
    """Return the points of a page, with the config as it is, and how often each is replicated."""
    refuse("over", not options.over, "is missing (such as team_diff=100:600:50)")
    if options.page is not None:
        refuse_file(options.page, SUFFIXES[False], "page")
    design = grid_of_texts(config, options.over, "over", MOST_POINTS)
    points = list({json.dumps(point): point for point in design.points}.values())
    for name, column in zip(design.names, zip(*points, strict=True), strict=True):
        if len(set(map(json.dumps, column))) == 1:
            raise InputError(f"{name}: a single value (allowed: two or more)")
    configs = [load(design.levels(point)) for point in points]
    headline(build(configs[0]).responses, options.responses)
    ids = set(map(config_id, configs))
    if len(ids) == 1:
        allowed = f"valmatch factors {config.model} lists them"
        raise InputError(f"{design.names[0]}: is no factor ({allowed})")
    beside = config_id(config) not in ids
    if beside:
        factors = resolved(config)["factors"]
        points.append(tuple(_value_at(factors, key) for key in design.factors))
        configs.append(config)
    plan = plan_of(config, options)
    if options.n is None and config.replicate.n is None and not plan.targets:
        plan = replace(plan, n=min(EXPLORED, default_n(*configs)))
    apart = plan.shard != WHOLE and options.out is None
    refuse("shard", apart, f"needs {option('out')}, the folder of the run")
    return replace(design, points=points, beside=beside), configs, plan


def _value_at(factors: Any, key: str) -> object:  # noqa: ANN401
    """Return the value of a factor as a config has it; None of what is no factor."""
    with suppress(KeyError, IndexError, TypeError):
        return reduce(getitem, parts(dotted(key.removeprefix("factors."))), factors)
    return None


def run_grid(
    config: Config, grid: Grid, options: ExploreArguments
) -> tuple[DesignReplications, str]:
    """Run the replications of a grid and write its page; return both."""
    with TemporaryDirectory() as spare:
        out = options.out or Path(spare) / "run"
        result = run_design(config, *grid, replace(options, out=out), options.responses)
        if grid[-1].shard != WHOLE:
            return result, ""
        chapter = chapter_of(out, options.page.parent if options.page else None)
        if options.out is None:
            chapter.files = {}
        page = html_of([chapter])
    if options.page:
        write_bytes(options.page, page.encode())
    return result, page
