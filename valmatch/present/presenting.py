"""Reads results back from folders, and presents them: as text, as a page in a notebook."""

import importlib
from contextlib import nullcontext, suppress
from pathlib import Path

from valmatch.errors import InputError
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.present.document import Presentation, View
from valmatch.present.terminal import MOST_ROWS, text_of
from valmatch.storage.output import MANIFEST
from valmatch.storage.results import Result, ResultFiles, damaged, result_files
from valmatch.text.terminal import wrapped

NAMED = 8  # folders that a refusal names

KINDS = {
    "simulate": "experiments.simulate:Simulation",
    "replicate": "experiments.replicate:Replications",
    "design": "experiments.sweep:DesignReplications",
    "compare": "experiments.compare:Comparison",
    "optimize": "optimization.studies.study:Study",
    "rate": "game_logs.rating:RatedLog",
    "rate systems": "game_logs.rating:RatingComparison",
    "rank": "game_logs.whole_log.result:BatchRating",
    "predict": "game_logs.prediction:PredictedGames",
    "next": "game_logs.next_pairs:NextPairs",
    "plan": "game_logs.planning:PlannedGames",
    "rules replay": "experiments.replay:ReplayedTickets",
}
"""The class of the results of each command, and of several systems."""


def load_result(folder: PathLike) -> Result:
    """Return the result that a command or a public function wrote to a folder.

    Parameters
    ----------
    folder : PathLike
        The folder that ``--out`` named.

    Returns
    -------
    Result
        What the function of that command returns: its table is its ``repr``, its numbers are
        in ``columns()`` and ``summary()``.

    Raises
    ------
    InputError
        If the folder holds no run, one that has not come to an end or is of another version, or a
        damaged one.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> made = valmatch.replicate("valorant", 5, out=folder)
    >>> valmatch.load_result(folder).estimates["matches"] == made.estimates["matches"]
    True
    """
    return read_result(result_files(run_folder("folder", folder)))


def run_folder(argument: str, value: object) -> Path:
    """Return the folder of a run."""
    folder = arguments.path(argument, value)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if not (folder / MANIFEST).is_file():
        runs = sorted(path.parent.name for path in folder.glob(f"*/{MANIFEST}"))
        more = f", and {len(runs) - NAMED:,} more" if len(runs) > NAMED else ""
        below = f", but of runs below: {', '.join(runs[:NAMED])}{more}" if runs else ""
        raise InputError(f"{folder}: no {MANIFEST} here{below} (allowed: the folder of a run)")
    return folder


def made_here(file: Path, *marks: str, within: int | None = None) -> bool:
    """Return whether a file holds, in so many bytes, a mark of those that are made here."""
    content = b""
    with suppress(OSError):
        content = file.read_bytes()[:within] if file.is_file() and not file.is_symlink() else b""
    return any(mark.encode() in content for mark in marks)


def read_result(files: ResultFiles) -> Result:
    """Return the result that a folder holds."""
    command = files.manifest.command
    if not files.manifest.is_ours:
        raise InputError(f"{files.folder / MANIFEST}: is that of another program")
    compares = command == "rate" and "systems" in files.json("summary.json")
    module, _, name = KINDS["rate systems" if compares else command].partition(":")
    kind: type[Result] = getattr(importlib.import_module(f"valmatch.{module}"), name)
    return kind.read(files)


def present(result: Result, view: View = View()) -> Presentation:  # noqa: B008 - never changed
    """Return the finding, the tables and the charts of a result."""
    if not hasattr(result, "presented_by"):
        raise InputError(
            f"{type(result).__name__}: is shown by its files (give the function that made it"
            " out=FOLDER)"
        )
    room = type(result).__module__.split(".")[1]  # the module here is called as the result's room
    module = importlib.import_module(f"valmatch.present.{room}")
    file = result.folder / result.unchecked if result.folder and result.unchecked else None
    with damaged(file) if file else nullcontext():
        page: Presentation = getattr(module, f"present_{result.presented_by}")(result, view)
    page.header = page.header or result.title
    page.warnings, page.notes = result.warnings, result.notes_below(view.responses)
    return page


def finding_of(result: Result) -> str:
    """Return what came out, in a sentence."""
    return present(result, View(charts=False)).finding


def text_of_result(result: Result) -> str:
    """Return what a result shows at a prompt: its tables, its finding, its warnings."""
    page = present(result, View(charts=False))
    lines = [line for text in result.warned for line in wrapped(text)]
    return "\n".join([text_of(page, MOST_ROWS), *lines]).rstrip("\n")
