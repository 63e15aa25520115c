"""Reports of the runs in some folders: what was asked, what came out, and how it was made."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from valmatch.config.factor_paths import flat
from valmatch.config.loading import shipped_configs
from valmatch.config.writing import document
from valmatch.errors import InputError, option
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.models.registry import MODELS
from valmatch.present import html
from valmatch.present import markdown as pages
from valmatch.present.document import (
    UNIT,
    Block,
    Presentation,
    TextTable,
    View,
    name_of,
    unit_of_factor,
)
from valmatch.present.presenting import made_here, present, read_result, run_folder
from valmatch.storage.manifest import ConfigPart, Manifest
from valmatch.storage.output import MANIFEST, write_bytes
from valmatch.storage.results import Result, ResultFiles, result_files
from valmatch.text.terminal import shortened, shown

ENDS = ("summary.json", "responses.json", "replications.csv")
"""One of these is there once a run has something to say."""

SUFFIXES = {False: (".html", ".htm"), True: (".md", ".markdown")}
"""Endings of the names of reports, of web pages and of Markdown."""

START = 1024  # bytes of a file in which its mark stands
LISTED = 30  # players that are listed
CODE = 20_000  # most characters of a config that is shown
NAMED = 60  # factors that are listed
LINKED = 40  # files of a run that are listed


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
    for folder in map(_folder, several):
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
        config, source = run.manifest.config, run.manifest.source
        name = name_of(config.model, source) if config else shortened(Path(source).name)
        return Presentation(f"{run.manifest.command} {name}", "What does it find?")
    responses = view.responses or run.manifest.shown
    return present(read_result(run), view._replace(responses=responses))


def _missing(run: ResultFiles, has_finding: bool) -> str:
    """Say what an unfinished run lacks."""
    from valmatch.experiments.combine import status_of

    state, *_ = status_of(run.folder)
    text = f"The state of the run is: {state.state}"
    if state.done is not None:
        wanted = "" if state.wanted is None else f" of {state.wanted:,}"
        text += f"; {state.done:,}{wanted} replications are there"
    if has_finding:
        return f"{text}; what is below is of what is there."
    return f"{text}; there is no summary, so that nothing can be said of what it finds."


# The origin of a run: its config, what differs from the defaults, versions, seed, command.


def blocks_of_origin(run: ResultFiles) -> list[Block]:
    """Return how the run was made, so that it can be made again."""
    manifest, config = run.manifest, run.manifest.config
    blocks = [Block("How it was made", table=_facts(manifest), folded=True)]
    if config is not None:
        if manifest.identity is not None and config.model in MODELS:
            blocks.insert(0, _differing(config, flat(manifest.identity.factors, lists=False)))
        text = _config_text(config, manifest.get("optimize"))
        blocks.append(Block("The config in full", code=text, folded=True))
    program, *arguments = manifest.argv or [""]
    if Path(program).name in ("valmatch", "__main__.py"):  # else a program made the run
        command = shlex.join(["valmatch", *arguments])
        blocks.append(Block("The command that makes it again", code=command))
    return blocks


def _differing(config: ConfigPart, factors: Mapping[str, Any]) -> Block:
    """Return a table of the factors that differ from the defaults of the model."""
    title = "Config: what differs from the defaults of the model"
    if not factors:
        files = ", ".join(config.__pydantic_extra__ or {})
        other = f"; it reads {files}" if files else ""
        return Block(title, paragraphs=[f"Nothing: every factor has its default{other}."])
    defaults: dict[str, Any] = {}
    with suppress(InputError, AttributeError, TypeError, ValueError):  # some have no default
        default_factors = MODELS[config.model].factors.model_construct()
        defaults = flat(default_factors.model_dump(mode="json"), lists=False)
    table = TextTable.of("factor", "here", "default", UNIT)
    for name, value in list(factors.items())[:NAMED]:
        default, unit = defaults.get(name, ""), unit_of_factor(config.model, name)
        table.add(name, _shown(value), _shown(default), unit)
    if len(factors) > NAMED:
        table.notes.append(f"and {len(factors) - NAMED:,} more")
    return Block(title, table=table)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _facts(manifest: Manifest) -> TextTable:
    path = Path(manifest.source)  # a shipped config has a name, whatever folder it is in
    shipped = path in shipped_configs().values()
    counts = {"replications": manifest.replications, "budget": manifest.budget}
    facts = {
        "command": manifest.command,
        "read from": f"the shipped config {path.stem}" if shipped else manifest.source,
        "config id": manifest.config_id,
        "seed": manifest.seed,
        **{name: None if count is None else f"{count:,}" for name, count in counts.items()},
        "confidence": manifest.confidence,
        "status": manifest.status,
        "started": manifest.started,
        "python": manifest.get("python"),
        **manifest.versions,
        "platform": manifest.get("platform"),
    }
    known = {name: str(value) for name, value in facts.items() if value not in (None, "")}
    columns = [("what", list(known)), ("is", list(known.values()))]
    return TextTable.of_columns(columns, left=("what", "is"))


def _config_text(config: ConfigPart, section: Any) -> str:  # noqa: ANN401
    others = {key: file.path for key, file in (config.__pydantic_extra__ or {}).items()}
    others |= {"optimize": section} if section else {}
    text = document("", config.model, config.factors, **others).strip() + "\n"
    more = f"\n# ... and {len(text) - CODE:,} more characters in {MANIFEST}\n"
    return text[:CODE] + more * (len(text) > CODE)


def links_of(run: ResultFiles, home: Path | None) -> dict[str, str]:
    """Return the files of the run with their addresses as seen from the report, if any."""
    names = dict.fromkeys([MANIFEST, *(run.manifest.files or ())])
    there = [name for name in names if (run.folder / name).is_file()][:LINKED]
    base = None
    with suppress(ValueError):
        base = home and os.path.relpath(run.folder.resolve(), home.resolve())
    if base is None:
        return dict.fromkeys(there, "")
    addresses = {name: quote((Path(base) / name).as_posix()) for name in there}
    # One that looks like a scheme is none.
    return {k: text if text.startswith(".") else f"./{text}" for k, text in addresses.items()}
