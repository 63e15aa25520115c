"""The tickets that a run of `simulate` has matched, from its folder: the run is made again."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.execution.interruption import ended_by_signals
from valmatch.execution.simulator import build
from valmatch.experiments.run_manifests import SimulateManifest, config_of
from valmatch.kernels.compilation import announce_compilation
from valmatch.matching.tickets.driving import play as play_kernel
from valmatch.matching.tickets.playing import Outcome, play
from valmatch.models.tickets.model import TicketsModel
from valmatch.models.tickets.worlds import TicketWorld
from valmatch.storage.manifest import read_manifest


def simulated(folder: Path) -> tuple[TicketWorld, Outcome]:
    """Return the tickets of a run of `simulate`, and what came of them, by running it once more."""
    manifest = read_manifest(folder, SimulateManifest)
    config = config_of(manifest, folder, "explain")
    model = build(config)
    if not isinstance(model, TicketsModel):
        raise InputError(f"{folder}: is of the model {config.model}, and tickets alone has tickets")
    address = manifest.seed, manifest.replication
    inputs = model.draw(Streams(manifest.seed), manifest.replication)
    try:
        world = model.world(inputs, *address)
    except InputError as error:
        raise InputError(f"{folder}: {error}") from None
    announce_compilation(play_kernel)
    return world, ended_by_signals(partial(play, *world, counted=False))
