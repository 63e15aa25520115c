"""``valmatch report``: what it writes, what it refuses, and that nothing is lost."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import valmatch
from tests.support.command import refusal, success
from tests.support.command import valmatch as command
from tests.support.report_runs import HOSTILE
from valmatch.present.markdown import text_of

RunOf = Callable[[str], Path]


@pytest.fixture
def run(run_of: RunOf, tmp_path: Path) -> Path:
    """Return a copy of a run, which a test may change."""
    shutil.copytree(run_of("replicate"), tmp_path / "run")
    return tmp_path / "run"


def refused(folder: Path, *arguments: object) -> str:
    """Return the line by which a command is refused, which writes nothing below a folder."""
    before = {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}
    line = refusal("report", *arguments)
    assert {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")} == before
    return line


def test_a_page_is_written_and_replaced(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "study.html"
    done = command("report", run, "-o", out)
    assert (done.code, done.out, done.err) == (0, f"{out}\n", "")
    assert out.read_text() == valmatch.report(run, out)
    out.write_text(out.read_text() + "old")
    success("report", run, "-o", out)
    assert not out.read_text().endswith("old")
    assert not list(tmp_path.glob(".*"))


def test_reports_go_to_standard_output_and_to_files(run: Path, tmp_path: Path) -> None:
    done = command("report", run, "--markdown")
    assert (done.code, done.out) == (0, valmatch.report(run, markdown=True))
    assert command("report", run, "--markdown", "-o", "-").out == done.out
    assert command("report", run, "-o", "-").out == valmatch.report(run)
    for _ in range(2):  # a report takes the place of another
        success("report", run, "--markdown", "-o", tmp_path / "study.md")
        assert (tmp_path / "study.md").read_text() == done.out


def test_bad_folders_are_refused(run: Path, tmp_path: Path) -> None:
    out = ("-o", tmp_path / "page.html")
    assert refused(tmp_path, tmp_path / "none", *out) == f"{tmp_path / 'none'}: no such folder"
    line = refused(tmp_path, tmp_path, *out)
    assert line.startswith(f"{tmp_path}: no manifest.json here, but of runs below: run (")
    other = tmp_path / "other"
    other.mkdir()
    (other / "manifest.json").write_text('{"command": "deploy"}')
    assert refused(tmp_path, run, other, *out).endswith("is that of another program")
    (other / "manifest.json").write_text("{")
    assert "damaged" in refused(tmp_path, run, other, *out)
    summary = run / "summary.json"
    content = json.loads(summary.read_text())
    content["targets"] = ["fast"]
    summary.write_text(json.dumps(content))
    assert refused(tmp_path, run, *out).startswith(f"{summary}: damaged: ")
    summary.unlink()
    assert refused(tmp_path, run, *out) == f"{summary}: cannot be read: No such file or directory"


def test_files_that_are_no_reports_stay(run: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.html"
    mine.write_text("<p>mine</p>")
    assert "no report of valmatch" in refused(tmp_path, run, "-o", mine)
    link = tmp_path / "link.html"
    command("report", run, "-o", tmp_path / "page.html")
    link.symlink_to(tmp_path / "page.html")
    assert "no report of valmatch" in refused(tmp_path, run, "-o", link)
    (tmp_path / "folder.html").mkdir()
    assert "no report of valmatch" in refused(tmp_path, run, "-o", tmp_path / "folder.html")
    for name in ("summary.csv", "page.md", "page"):
        assert "allowed is a name in .html or .htm" in refused(tmp_path, run, "-o", run / name)
    assert ".md or .markdown" in refused(tmp_path, run, "--markdown", "-o", tmp_path / "x.html")
    nowhere = tmp_path / "nowhere" / "page.html"
    assert f"there is no folder {nowhere.parent}" in refused(tmp_path, run, "-o", nowhere)
    assert refused(tmp_path, run).startswith("--out: is missing")


@pytest.mark.parametrize("status", ["running", "interrupted"])
def test_what_an_unfinished_run_lacks_is_said_on_top(run: Path, status: str) -> None:
    manifest = run / "manifest.json"
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**content, "status": status, "requested": 20}))
    page = valmatch.report(run)
    state = "not ended" if status == "running" else status
    said = f"The state of the run is: {state}; 12 of 20 replications are there;"
    assert 0 < page.index(said) < page.index('class="question"')
    assert f"**Incomplete.** {said}" in valmatch.report(run, markdown=True)


def test_a_killed_run_without_a_summary_is_reported_by_its_rows(run: Path) -> None:
    whole = valmatch.report(run, markdown=True)
    (run / "summary.json").unlink()
    manifest = run / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"complete"', '"running"'))
    text = valmatch.report(run, markdown=True)
    found = next(line for line in text.splitlines() if line.startswith("**On average"))
    assert found in whole
    (run / "replications.csv").unlink()
    assert "nothing can be said of what it finds" in valmatch.report(run, markdown=True)


@pytest.mark.parametrize("name", ["sweep", "rate", "simulate"])
def test_a_killed_run_without_results_is_reported(name: str, run_of: RunOf, tmp_path: Path) -> None:
    shutil.copytree(run_of(name), tmp_path / "run")
    for result in ("summary.json", "responses.json"):
        (tmp_path / "run" / result).unlink(missing_ok=True)
    manifest = tmp_path / "run" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"complete"', '"interrupted"'))
    text = valmatch.report(tmp_path / "run", markdown=True)
    assert "**Incomplete.** The state of the run is: interrupted" in text
    assert "nothing can be said of what it finds" in text


def test_names_are_texts_in_markdown(run_of: RunOf) -> None:
    text = valmatch.report(run_of("rate"), markdown=True)
    for name in HOSTILE:
        assert text_of(name.replace("\u202e", "\\u202e")) in text
    assert not re.search(r"(?<!\\)<(script|img)|@somebody|http://e.org|(?<!\\)#12", text)


def test_results_are_reported_by_their_folder(tmp_path: Path) -> None:
    small = {"model": "valorant", "factors": {"horizon": 2.0}}
    result = valmatch.replicate(small, 3, out=tmp_path / "run")
    assert valmatch.report(result) == valmatch.report(tmp_path / "run")
    with pytest.raises(valmatch.InputError, match="give the function that made it out=FOLDER"):
        valmatch.report(valmatch.replicate(small, 3))
