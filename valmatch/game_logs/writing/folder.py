"""The folder of a rating and its files."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from valmatch.errors import InputError, option
from valmatch.inputs.files import sha256
from valmatch.storage.contents import MANIFEST
from valmatch.storage.output import write_atomically
from valmatch.storage.run_folder import RunFolder

if TYPE_CHECKING:
    from valmatch.game_logs.previous_ratings import MadeManifest, PreviousRatings
    from valmatch.game_logs.reading.log import GameLog
    from valmatch.game_logs.roster import Ranking

HISTORY, SUMMARY = "history.csv", "summary.json"

CORRECTED = ("games_sha256", "ratings_sha256", "given")
"""Entries of its identity that differ once its log, or that of an earlier one, was corrected."""


def claim(
    out: Path, log: GameLog, previous: PreviousRatings | None, identity: Mapping[str, object]
) -> RunFolder:
    """Return the folder of a rating, claimed."""
    digest = log.sha256()
    ratings = previous.path if previous else None
    files = {"games_sha256": digest, "ratings_sha256": sha256(ratings) if ratings else None}
    rated = [file.model_dump() for file in previous.rated] if previous else []
    rated.append({"sha256": digest, "bytes": log.size})
    whole = {**identity, **files}
    made = _made_in(out)
    if made and all(made.get(key) == whole[key] for key in whole if key not in CORRECTED):
        _refuse_changes(out, log, ratings, made, files)
    facts = {"source": log.name, "rated": rated}
    read = [log.path, ratings, ratings.parent / MANIFEST if ratings else None]
    return RunFolder(out, "rate", None, whole, facts=facts, read=[path for path in read if path])


def _refuse_changes(
    out: Path,
    log: GameLog,
    previous: Path | None,
    made: MadeManifest,
    files: Mapping[str, str | None],
) -> None:
    """Refuse another log than that of a folder, or a file that has changed since it was made."""
    changed = [key for key, digest in files.items() if made.get(key) != digest]
    if "games_sha256" in changed and Path(made.source).name != Path(log.name).name:
        raise InputError(
            f"{option('out')} {out}: holds the results of another run, the rating of"
            f" {made.source} (this run rates {log.name}); choose another folder"
        )
    if not changed or (made.ratings_sha256 is None) != (previous is None):
        return
    what = log.name if "games_sha256" in changed else previous
    raise InputError(
        f"{what}: has changed since {out} was made: delete the folder {out} and rate again"
    )


def _made_in(folder: Path) -> MadeManifest | None:
    """Return the manifest of the rating that a folder holds; None where there is none."""
    with suppress(OSError, InputError):
        (folder / MANIFEST).stat()  # what checks one takes long to import
        from valmatch.game_logs.previous_ratings import MadeManifest
        from valmatch.storage.manifest import read_manifest

        found = read_manifest(folder, MadeManifest)
        return found if found.command == "rate" else None
    return None


def write_ratings(path: Path, ranking: Ranking) -> None:
    """Write ``ratings.csv``, atomically."""
    from valmatch.game_logs.writing.csv_text import lines

    columns = ranking.columns()
    with write_atomically(path) as file:
        file.write(",".join(columns) + "\n")
        file.write(lines(tuple(columns.values())))
