"""Web pages of reports: valid, small, alone, the same for the same folder."""

from __future__ import annotations

import base64
import hashlib
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
from tests.support.report_runs import HOSTILE, RUNS
from valmatch.present import html

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
    labels = [text_of(one) for one in tree.iter(f"{SPACE}p") if one.get("class") == "label"]
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
    assert [one.get("href") for one in contents.iter(f"{SPACE}a")] == ["#run-1", "#run-2", "#run-3"]
    sections = [one.get("id") for one in tree.iter(f"{SPACE}section")]
    assert sections == ["run-1", "run-2", "run-3"]
    assert page.count('class="finding"') == 3


def test_charts_of_last_chapters_give_way(run_of: RunOf, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [run_of("replicate"), run_of("games"), run_of("parts")]
    whole = valmatch.report(folders)
    monkeypatch.setattr(html, "MOST_BYTES", len(whole.encode()) - 1)
    page = valmatch.report(folders)
    assert len(page.encode()) <= html.MOST_BYTES
    left_out = page.index("Charts are left out here")
    assert page.index('id="run-3"') < left_out
    assert page.count("<table") == whole.count("<table")


def test_links_lead_from_the_page_to_the_files(run_of: RunOf, tmp_path: Path) -> None:
    folder = tmp_path / "a b" / "run#1"
    shutil.copytree(run_of("replicate"), folder)
    page = valmatch.report(folder, tmp_path / "page.html")
    assert 'href="./a%20b/run%231/replications.csv"' in page
    assert 'href="./replications.csv"' in valmatch.report(folder, folder / "page.html")
    assert "replications.csv</li>" in valmatch.report(folder)
