"""Reports: valid pages, small, the same for the same folder; what is written and refused."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast
from xml.etree.ElementTree import Element

import html5lib
import pytest

import valmatch
from tests.support.command import refusal, success
from tests.support.command import valmatch as command
from tests.support.report_runs import HOSTILE, RUNS
from valmatch.present import html, markdown

RunOf = Callable[[str], Path]

SPACE = "{http://www.w3.org/1999/xhtml}"


def tree_of(page: str) -> Element:
    """Return a page as a tree; anything that HTML does not allow is an error."""
    return cast(Element, html5lib.HTMLParser(strict=True).parse(page))


def text_of(element: Element) -> str:
    """Return all text below an element."""
    return "".join(element.itertext())


@pytest.mark.parametrize("name", RUNS)
def test_a_page_is_valid_small_and_says_what_was_asked_and_found(name: str, run_of: RunOf) -> None:
    page = valmatch.report(run_of(name))
    tree = tree_of(page)
    assert len(page.encode()) < html.MOST_BYTES
    labels = [text_of(p) for p in tree.iter(f"{SPACE}p") if p.get("class") == "label"]
    assert labels == ["Question", "Finding"]
    tables = list(tree.iter(f"{SPACE}table"))
    assert tables
    for table in tables:
        (head,) = table.iter(f"{SPACE}thead")
        (body,) = table.iter(f"{SPACE}tbody")
        width = len(list(head.iter(f"{SPACE}th")))
        assert all(len(list(row)) == width for row in body.iter(f"{SPACE}tr"))
    for element in tree.iter():  # nothing is loaded
        assert not {"src", "style"} & {*element.keys()}
        assert not [key for key in element.keys() if str(key).startswith("on")]  # noqa: SIM118
        target = element.get("href", "data:,")
        assert target == "data:," or target.startswith(("./", "../", "#run-")), target


def test_the_policy_of_a_page_knows_its_style_and_its_script_alone(run_of: RunOf) -> None:
    page = valmatch.report(run_of("replicate"))
    for kind, tag in (("style-src", "style"), ("script-src", "script")):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.S)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}';" in page
    assert "default-src 'none'" in page
    assert len(re.findall("<script", page)) == 1


@pytest.mark.parametrize("name", ["replicate", "rate"])
def test_the_same_folder_gives_the_same_bytes(name: str, run_of: RunOf, tmp_path: Path) -> None:
    first, again = tmp_path / "one.html", tmp_path / "two.html"
    for path in (first, again):
        assert valmatch.report(run_of(name), path).encode() == path.read_bytes()
    assert first.read_bytes() == again.read_bytes()


def test_names_from_data_are_texts(run_of: RunOf) -> None:
    for name in ("rate", "predict", "systems"):
        tree = tree_of(valmatch.report(run_of(name)))
        tags = {str(element.tag).removeprefix(SPACE) for element in tree.iter()}
        assert "img" not in tags
        assert len(list(tree.iter(f"{SPACE}script"))) == 1
    tree = tree_of(valmatch.report(run_of("rate")))
    cells = {text_of(cell).strip() for cell in tree.iter(f"{SPACE}td")}
    shown = {name.replace("\u202e", "\\u202e") for name in HOSTILE}
    assert shown <= cells


def test_matplotlib_is_not_needed(run_of: RunOf, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("valmatch.present")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    from valmatch.present.reporting import report

    assert "<svg" in report(run_of("replicate"))


def test_several_runs_make_chapters_with_contents(run_of: RunOf) -> None:
    folders = [run_of("replicate"), run_of("compare"), run_of("rate"), run_of("replicate")]
    page = valmatch.report(folders)
    tree = tree_of(page)
    (contents,) = tree.iter(f"{SPACE}nav")
    assert [element.get("href") for element in contents.iter(f"{SPACE}a")] == [
        "#run-1",
        "#run-2",
        "#run-3",
    ]
    sections = [element.get("id") for element in tree.iter(f"{SPACE}section")]
    assert sections == ["run-1", "run-2", "run-3"]
    assert page.count('class="finding"') == 3


def test_charts_of_last_chapters_give_way(run_of: RunOf, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [run_of("replicate"), run_of("games"), run_of("parts")]
    charted = valmatch.report(folders)
    monkeypatch.setattr(html, "MOST_BYTES", len(charted.encode()) - 1)
    page = valmatch.report(folders)
    assert len(page.encode()) <= html.MOST_BYTES
    left_out = page.index("Charts are left out here")
    assert page.index('id="run-3"') < left_out
    assert page.count("<table") == charted.count("<table")


def test_links_lead_from_the_page_to_the_files(run_of: RunOf, tmp_path: Path) -> None:
    folder = tmp_path / "a b" / "run#1"
    shutil.copytree(run_of("replicate"), folder)
    page = valmatch.report(folder, tmp_path / "page.html")
    assert 'href="./a%20b/run%231/replications.csv"' in page
    assert 'href="./replications.csv"' in valmatch.report(folder, folder / "page.html")
    assert "replications.csv</li>" in valmatch.report(folder)


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
    sentence = f"The state of the run is: {state}; 12 of 20 replications are there;"
    assert 0 < page.index(sentence) < page.index('class="question"')
    assert f"**Incomplete.** {sentence}" in valmatch.report(run, markdown=True)


def test_a_killed_run_without_a_summary_is_reported_by_its_rows(run: Path) -> None:
    complete = valmatch.report(run, markdown=True)
    (run / "summary.json").unlink()
    manifest = run / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"complete"', '"running"'))
    text = valmatch.report(run, markdown=True)
    finding = next(line for line in text.splitlines() if line.startswith("**On average"))
    assert finding in complete
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
        assert markdown.text_of(name.replace("\u202e", "\\u202e")) in text
    assert not re.search(r"(?<!\\)<(script|img)|@somebody|http://e.org|(?<!\\)#12", text)
