"""``valmatch status``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from valmatch.cli.console import info, show
from valmatch.cli.options import Folders, Json, command

if TYPE_CHECKING:
    from valmatch.experiments.status import RunStatus

FOLDER = 40  # most characters of a folder in the table
SHOWN = 8  # missing shards that are named


@command(speaks=["quiet"])
def status(folders: Folders, json: Json) -> None:
    """Show the progress of runs and of their shards, and name the shards that no folder holds.

    Nothing is written. A run that has not ended is at work, or was killed. Exit code 0, whatever
    the runs did.
    """
    from valmatch.experiments.status import missing_shards, status_of

    found = [one for folder in folders for one in status_of(folder)]
    missing = list(map(str, missing_shards(found)))
    document = {"runs": [one.as_dict() for one in found], "missing_shards": missing}
    show(json, document, lambda: _show_table(found))
    if missing:
        shown = ", ".join(missing[:SHOWN]) + (", ..." if len(missing) > SHOWN else "")
        info(f"in none of these folders: shard{'s' * (len(missing) > 1)} {shown}")


def _show_table(found: Sequence[RunStatus]) -> None:
    from valmatch.present.document import TextTable
    from valmatch.present.terminal import print_table
    from valmatch.text.terminal import shortened

    shards = ["shard"] if any(one.shard.count > 1 for one in found) else []
    columns = ("folder", "command", *shards, "state")
    table = TextTable.of(*columns, "done", "of", left=columns)
    for one in found:
        table.add(
            shortened(str(one.folder), FOLDER),
            one.command,
            *([str(one.shard) if one.shard.count > 1 else ""] if shards else []),
            one.state,
            "" if one.done is None else f"{one.done:,}",
            "" if one.wanted is None else f"{one.wanted:,}",
        )
    print_table("", table)
