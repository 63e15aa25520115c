"""Links of the pages lead somewhere: within the repository; others are at least well formed."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parent.parent

PAGES = sorted(
    path
    for place in ("*.md", "docs/**/*.md", "results/**/*.md")
    for path in ROOT.glob(place)
    if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
)

CITATION = ROOT / "CITATION.cff"

LINK = re.compile(r"(!?)\[[^\]]*\]\(([^()\s]+)(?: \"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.M)
INCLUDED = re.compile(r"^```\{include\} (\S+)$", re.M)
ELSEWHERE = re.compile(r"\b[a-z]+://[^\s<>\"'`]*")
WELL_FORMED = re.compile(
    r"https://[\w-]+(\.[\w-]+)+(/[\w.~%+@!$&*,;=:/-]*)?(\?[\w=&%-]+)?(#[\w-]+)?"
)
CODE = re.compile(r"^(`{3,})(?!\{).*?^\1$|`[^`\n]+`", re.M | re.S)


def source(page: Path) -> Path:
    """Return the page that a page includes, or itself."""
    included = INCLUDED.search(page.read_text(encoding="utf-8"))
    return page.parent / included[1] if included else page


def text_of(page: Path) -> str:
    """Return what a page says."""
    return source(page).read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as forges and the site make them."""
    found: set[str] = set()
    for heading in HEADING.findall(re.sub(r"^```.*?^```$", "", text_of(page), flags=re.M | re.S)):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = 1
        while name in found:
            name = f"{name.removesuffix(f'-{number - 1}')}-{number}"
            number += 1
        found.add(name)
    return found


def broken(page: Path) -> list[str]:
    """Return the local links of a page that lead nowhere."""
    found = []
    for picture, link in LINK.findall(CODE.sub("", text_of(page))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = unquote(link).partition("#")
        start = source(page) if picture else page
        target = (start.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


def external(text: str) -> list[str]:
    """Return the links to other places of a page."""
    return [link.rstrip(").,;:") for link in ELSEWHERE.findall(CODE.sub("", text))]


def test_external_links_are_well_formed() -> None:
    links = [(page, link) for page in PAGES for link in external(text_of(page))]
    links += [(CITATION, link) for link in external(CITATION.read_text(encoding="utf-8"))]
    wrong = [(page.name, link) for page, link in links if not WELL_FORMED.fullmatch(link)]
    assert wrong == []


def test_a_malformed_link_is_found() -> None:
    text = (
        "[a](https://example.org/x) <http://example.org> (https://example.org/y_(z)). https://a b"
    )
    links = external(text)
    assert links[0] == "https://example.org/x"
    assert [bool(WELL_FORMED.fullmatch(link)) for link in links] == [True, False, False, False]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_local_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# A `title`, twice\n\n# A title twice\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Top\n\n[a](#top) [b](#bottom)\n"
        "[c](other.md#a-title-twice) [d](other.md#a-title-twice-1)\n"
        "[e](gone.md) `[f](code.md)` [g](https://example.org/x)\n```\n[h](code.md)\n```\n"
    )
    assert broken(page) == ["#bottom", "gone.md"]
