"""Reports of the runs in some folders: what was asked, what came out, and how it was made."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from valmatch.errors import InputError, option
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.present import html
from valmatch.present import markdown as pages
from valmatch.present.document import Presentation, View
from valmatch.present.loading import made_here, read_result, run_folder
from valmatch.present.presenting import present
from valmatch.present.provenance import blocks_of_origin, links_of, run_name
from valmatch.storage.contents import MANIFEST
from valmatch.storage.output import write_bytes
from valmatch.storage.result_files import ResultFiles, result_files
from valmatch.storage.results import Result
from valmatch.text.terminal import shown

ENDS = ("summary.json", "responses.json", "replications.csv")
"""One of these is there once a run has something to say."""

SUFFIXES = {False: (".html", ".htm"), True: (".md", ".markdown")}
"""Endings of the names of reports, of web pages and of Markdown."""

START = 1024  # bytes of a file in which its mark stands
LISTED = 30  # players that are listed


def report(
    folders: PathLike | Result | Sequence[PathLike | Result],
    out: PathLike | None = None,
    *,
    markdown: bool = False,
) -> str:
    """Return a report of the runs in some folders as one web page, or as Markdown.

    The same folders give the same page. It loads nothing and needs no scripts.

    Parameters
    ----------
    folders : PathLike or Result, or sequence of them
        The folders of runs, or the results of public functions that wrote to one; several make
        chapters.
    out : PathLike or None
        The file that it is written to, ``.html`` or ``.md``; an earlier report is replaced, no
        other file is.
    markdown : bool
        Whether Markdown is wanted, such as for a pull request: the same findings and tables, no
        charts.

    Returns
    -------
    str
        The report.

    Raises
    ------
    InputError
        If a folder holds no run, or a damaged one, or the file cannot be written there.
    RunError
        If the file cannot be written.
    """
    arguments.flag("markdown", markdown)
    path = None if out is None else arguments.path("out", out)
    several = folders if isinstance(folders, list | tuple) else [folders]
    runs: dict[Path, Path] = {}
    for page in several:
        folder = _folder(page)
        runs.setdefault(folder.resolve(), folder)
    if not runs:
        raise InputError(f"{option('folders')}: {shown(folders)} (allowed: the folder of a run)")
    if path is not None:
        refuse_file(path, SUFFIXES[markdown])
    chapters = [chapter_of(folder, path.parent if path else None) for folder in runs.values()]
    text = pages.markdown_of(chapters) if markdown else html.html_of(chapters)
    if path is not None:
        write_bytes(path, text.encode())
    return text


def _folder(source: object) -> Path:
    """Return the folder of a run."""
    if not isinstance(source, Result):
        return run_folder("folders", source)
    if source.folder is None:
        raise InputError(
            f"{type(source).__name__}: a report is made from its files (give the function that"
            " made it out=FOLDER)"
        )
    return source.folder


def refuse_file(path: Path, allowed: Sequence[str], argument: str = "out") -> None:
    """Refuse a file that is no report, or cannot be one."""
    if path.suffix.lower() not in allowed:
        raise InputError(f"{option(argument)} {path}: allowed is a name in {' or '.join(allowed)}")
    if not path.parent.is_dir():
        raise InputError(f"{option(argument)} {path}: there is no folder {path.parent}")
    if os.path.lexists(path) and not made_here(path, html.MARK, pages.MARK, within=START):
        raise InputError(
            f"{option(argument)} {path}: is there already and is no report of valmatch; choose"
            " another file"
        )


def chapter_of(folder: Path, home: Path | None) -> Presentation:
    """Return the chapter on the run in a folder."""
    run = result_files(folder)
    chapter = present_folder(run, View(top=LISTED))
    if run.status != "complete":
        chapter.incomplete = _missing(run, bool(chapter.finding))
    chapter.blocks += blocks_of_origin(run)
    chapter.files = links_of(run, home)
    return chapter


def present_folder(run: ResultFiles, view: View) -> Presentation:
    """Return what the result in a folder shows, in the responses that its command showed."""
    if not run.manifest.is_ours:
        raise InputError(f"{run.folder / MANIFEST}: is that of another program")
    if run.status != "complete" and not any(map(run.has, ENDS)):
        return Presentation(f"{run.manifest.command} {run_name(run)}", "What does it find?")
    responses = view.responses or run.manifest.shown
    return present(read_result(run), view._replace(responses=responses))


def _missing(run: ResultFiles, has_finding: bool) -> str:
    """Say what an unfinished run lacks."""
    from valmatch.experiments.status import status_of

    state, *_ = status_of(run.folder)
    text = f"The state of the run is: {state.state}"
    if state.done is not None:
        wanted = "" if state.wanted is None else f" of {state.wanted:,}"
        text += f"; {state.done:,}{wanted} replications are there"
    if has_finding:
        return f"{text}; what is below is of what is there."
    return f"{text}; there is no summary, so that nothing can be said of what it finds."
