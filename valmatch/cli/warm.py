"""``valmatch warm``: compile kernels before they are needed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

from valmatch.cli.console import info, progress
from valmatch.cli.options import command
from valmatch.errors import InputError
from valmatch.inputs import options as o

if TYPE_CHECKING:
    from valmatch.config.config import Config

COMMANDS = ("optimize", "next", "plan")  # need kernels besides those of models and rating systems

LOG = "game,time,player,score\n" + "".join(
    f"g{game},2026-01-{game + 1:02d},{player},{(game + score) % 3}\n"
    for game in range(9)
    for score, player in enumerate(sorted({"abc"[game % 3], "bca"[game % 3]}))
)
"""A log of three players."""


@command()
def warm(
    names: Annotated[
        tuple[str, ...],
        o.names(
            "Models, rating systems and commands; all without one.",
            "[NAME...]",
            argument=True,
            repeated=True,
            read=tuple,
        ),
    ],
) -> None:
    """Compile what models, rating systems and commands need, and keep it for later runs.

    For images of containers and before jobs of a cluster: commands then start at once. Each shipped
    config of a model is simulated once, and a small log is rated.
    """
    from valmatch.config.loading import load_config, shipped_configs
    from valmatch.kernels.cache import folder_of_all
    from valmatch.kernels.compilation import import_numba
    from valmatch.kernels.first_run import compiling
    from valmatch.models.registry import OWN
    from valmatch.ratings.registry import BATCH_NAMES, NAMES
    from valmatch.text.suggestions import hint

    compiling.announced = True  # the bar shows it
    known = [*OWN, *NAMES, *BATCH_NAMES, *COMMANDS]
    for name in names:
        if name not in known:
            raise InputError(f"{name}: nothing that has kernels ({hint(name, known)})")
    chosen = names or known
    configs = map(load_config, shipped_configs() if OWN.keys() & set(chosen) else ())
    steps: list[Config | str] = [config for config in configs if config.model in chosen]
    steps += [name for name in chosen if name not in OWN]
    with progress("configs and commands", len(steps)) as bar, TemporaryDirectory() as folder:
        for step in steps:
            if isinstance(step, str):
                _call(step, Path(folder))
            else:
                _simulate(step)
            bar(1)
    cache, size = folder_of_all(import_numba().config.CACHE_DIR), 0
    with suppress(OSError):
        size = sum(path.stat().st_size for path in cache.rglob("*.nb?"))
    kept = f"{size / 1e6:.1f} MB in {cache}"
    info(f"compiled {compiling.kernels:,} kernels in {compiling.seconds:.1f} s; {kept}")


def _simulate(config: Config) -> None:
    """Make a replication in full, and others as `replicate` and `optimize` make them."""
    from valmatch.execution.chunks import build, record, run

    model = build(config)
    record(model, 1, 0)
    run(model, 1, [0])
    if model.controls:
        run(model, 1, [0], controls=True)


def _call(name: str, folder: Path) -> None:
    """Rate a small log by a system, or do what a command does, on a small scale."""
    import valmatch
    from valmatch.policies.registry import JOINT
    from valmatch.ratings.registry import NAMES

    log, ratings = folder / "log.csv", folder / "ratings"
    log.write_text(LOG)
    if name in NAMES:
        valmatch.rate_games(log, name)
    elif name not in COMMANDS:
        valmatch.rank_games(log, name)
    elif name == "optimize":
        valmatch.optimize("valorant-20min", budget=100)
    elif name == "next":
        valmatch.rank_games(log, prior=300.0, out=ratings)
        for policy in JOINT:
            valmatch.next_pairs(ratings, policy)
    else:
        for policy in JOINT:
            valmatch.plan_games(players=3, spread=300.0, best=0.5, policy=policy, replications=2)
