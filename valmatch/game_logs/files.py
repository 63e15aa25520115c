"""The folder of a rating and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from valmatch.config.input_files import sha256
from valmatch.errors import InputError, option
from valmatch.game_logs.csv_text import lines
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.roster import Ranking
from valmatch.storage.manifest import MANIFEST, Count, Facts
from valmatch.storage.output import write_atomically
from valmatch.storage.run_folder import RunFolder

__all__ = [
    "HISTORY",
    "PAIRS",
    "RATINGS",
    "SUMMARY",
    "RatedFile",
    "claim",
    "refuse_to_replace",
    "write_ratings",
]

RATINGS, HISTORY, PAIRS, SUMMARY = "ratings.csv", "history.csv", "pairs.csv", "summary.json"

WRITTEN = (RATINGS, HISTORY, PAIRS, SUMMARY, MANIFEST)


class RatedFile(Facts):
    """A log that was rated, as a manifest holds it: its digest and its size."""

    sha256: str
    bytes: Count


def claim(
    out: Path,
    log: GameLog,
    ratings: Path | None,
    rated: Sequence[RatedFile],
    identity: Mapping[str, object],
    written: Sequence[str] = WRITTEN,
) -> RunFolder:
    """Return the folder of a rating, claimed.

    Parameters
    ----------
    out : Path
        The folder.
    log : GameLog
        The games.
    ratings : Path or None
        The earlier ratings.
    rated : sequence of RatedFile
        The logs that those were made from.
    identity : mapping
        What else distinguishes this rating from others.
    written : sequence of str
        The files that it writes.

    Raises
    ------
    InputError
        If the folder cannot be used, or holds another rating, or would lose what is read.
    """
    refuse_to_replace(out, written, (log.path, ratings))
    digest = log.sha256()
    files = {"games_sha256": digest, "ratings_sha256": sha256(ratings) if ratings else None}
    logs = [*rated, RatedFile(sha256=digest, bytes=log.size)]
    facts = {"source": log.name, "rated": [one.model_dump() for one in logs]}
    return RunFolder(out, "rate", None, {**identity, **files}, facts=facts)


def refuse_to_replace(out: Path, written: Sequence[str], read: Sequence[Path | None]) -> None:
    """Refuse a folder where files that are read would be replaced by what is written.

    Raises
    ------
    InputError
        If one would.
    """
    for path in read:
        if path and path.resolve() in [(out / name).resolve() for name in written]:
            raise InputError(
                f"{option('out')} {out}: would replace what is read, {path}; choose another folder"
            )


def write_ratings(path: Path, ranking: Ranking, raw_names: bool) -> None:
    """Write ``ratings.csv``, atomically; names like formulas are marked, if not `raw_names`."""
    columns = ranking.columns()
    with write_atomically(path) as file:
        file.write(",".join(columns) + "\n")
        file.write(lines(tuple(columns.values()), raw_names))
