"""Reports and their sliders in a browser, wide and narrow, dark and light, without scripts, too.

There is no message, no request but for the page, and no page is wider than the screen.

Needs Chromium: ``pytest -n 0 tests/verification/test_report_pages.py``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import valmatch
from tests.present.test_exploring import text_of
from tests.support.folders import rows
from tests.support.report_runs import RUNS, make_runs
from valmatch.experiments.compare import compare_runs

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium")

WIDTHS, DARK, LIGHT = (1280, 390), 0, 1

SANDBOXES = {True: "", False: ' sandbox="allow-same-origin"'}
"""With scripts and without."""

FRAME = """<!DOCTYPE html><link rel="icon" href="data:,"><title></title>
{frames}
<script>
onload = () => {{
  document.title = JSON.stringify([...document.querySelectorAll("iframe")].map((frame) => {{
    const page = frame.contentDocument;
    const count = (what) => page.querySelectorAll(what).length;
    return {{
      wide: page.documentElement.scrollWidth,
      heads: count("th button"),
      tables: count("table"),
      charts: count("figure svg"),
      paper: getComputedStyle(page.body).backgroundColor,
      columns: [0, 1, 2].map((clicks) => {{
        const button = page.querySelectorAll("th button")[1];
        if (button && clicks) button.click();
        const rows = page.querySelector("tbody").rows;
        return [...rows].map((row) => row.cells[1].textContent.trim());
      }}),
    }};
  }}));
}};
</script>
"""
"""A page around reports that says what is in them."""


DRIVER = """<!DOCTYPE html><link rel="icon" href="data:,"><title></title>
<iframe src="page.html" width="{width}" height="900"></iframe>
<script>
onload = () => {{
  const page = document.querySelector("iframe").contentDocument;
  const all = (what) => [...page.querySelectorAll(what)];
  const texts = (of, what) => [...of.querySelectorAll(what)].map((part) => part.textContent);
  const sliders = all("input[type=range]");
  const dots = (what) => all(what).flatMap((path) => path.getAttribute("d").split("M").slice(1));
  document.title = JSON.stringify({states}.map((state) => {{
    state.levels.forEach((level, k) => {{
      sliders[k].value = level;
      sliders[k].dispatchEvent(new Event("input"));
    }});
    all(".map select").forEach((select, k) => {{
      select.value = state.axes[k];
      select.dispatchEvent(new Event("change"));
    }});
    const field = all("input[type=text]")[0];
    field.value = state.limit;
    field.dispatchEvent(new Event("input"));
    if (state.click !== null) {{
      const [chart] = all(".map svg");
      const [x, y] = dots(".map .dots")[state.click].split("a")[0].split(",");
      const at = new DOMPoint(x, y).matrixTransform(chart.getScreenCTM());
      chart.dispatchEvent(new MouseEvent("click", {{ clientX: at.x, clientY: at.y }}));
    }}
    return {{
      wide: page.documentElement.scrollWidth,
      levels: texts(page, ".knobs output"),
      cards: all("article").map((card) => [card.dataset.response, ...texts(card, ".big span, p")]),
      kept: dots(".map .dots:not(.off)").length,
      held: texts(page, ".held")[0],
    }};
  }}));
}};
</script>
"""
"""A page around one with sliders that brings it into some states and says what it shows."""


class Server(ThreadingHTTPServer):
    """Serves a folder, and notes what it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        server = self

        class Handler(SimpleHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                server.asked.append(self.path)

        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(folder)))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Serve an empty folder."""
    made = Server(tmp_path)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return a report of each kind of run."""
    run_of = make_runs(tmp_path_factory.mktemp("runs"))
    found = {name: valmatch.report(run_of(name)) for name in RUNS}
    return {**found, "all": valmatch.report([run_of(name) for name in RUNS])}


def visit(server: Server, colours: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Return what a browser says of each frame, and the messages on its console."""
    address = f"http://127.0.0.1:{server.server_port}/frame.html"
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr")
    settings = (f"--blink-settings=preferredColorScheme={colours}", "--virtual-time-budget=4000")
    command = [str(BROWSER), *flags, *settings, "--dump-dom", address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    title = done.stdout.partition("<title>")[2].partition("</title>")[0]
    # That scripts of a frame are off is said, too.
    messages = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(unescape(title)), [one for one in messages if "is sandboxed" not in one]


@pytest.mark.parametrize("name", [*RUNS, "all"])
def test_a_browser_shows_a_report_and_asks_for_nothing(
    name: str, pages: dict[str, str], server: Server, tmp_path: Path
) -> None:
    page = pages[name]
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    kinds = list(product(WIDTHS, SANDBOXES))
    frames = (
        f'<iframe src="page.html"{SANDBOXES[scripts]} width="{width}" height="800"></iframe>'
        for width, scripts in kinds
    )
    (tmp_path / "frame.html").write_text(FRAME.format(frames="".join(frames)), encoding="utf-8")
    papers = set()
    for colours in (DARK, LIGHT):
        server.asked.clear()
        found, messages = visit(server, colours)
        assert messages == []
        assert set(server.asked) == {"/frame.html", "/page.html"}
        for (width, scripts), one in zip(kinds, found, strict=True):
            assert one["wide"] <= width
            assert (one["tables"], one["charts"]) == (page.count("<table"), page.count("<svg"))
            assert (one["heads"] > 0) == scripts
            assert {tuple(sorted(column)) for column in one["columns"]} == {
                tuple(sorted(one["columns"][0]))
            }
        (paper,) = {one["paper"] for one in found}
        papers.add(paper)
    assert len(papers) == 2


def test_heads_sort_by_numbers_up_then_down(
    pages: dict[str, str], server: Server, tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_text(pages["replicate"], encoding="utf-8")
    frame = '<iframe src="page.html" width="1280" height="800"></iframe>'
    (tmp_path / "frame.html").write_text(FRAME.format(frames=frame), encoding="utf-8")
    (found,), _ = visit(server, LIGHT)
    first, up, down = ([float(cell) for cell in column] for column in found["columns"])
    assert up == sorted(first) != first
    assert down == up[::-1]


def low_of(text: str) -> float:
    """Return the lower end of an interval as it is shown."""
    mean, half, *_ = text.split(" ")
    return float(mean) - abs(float(half.partition("/")[0]))


OVER: dict[str, list[Any]] = {"team_diff": [10, 50, 200], "wait_thresh": [0.1, 0.5, 1]}
CONFIG = {"model": "valorant", "factors": {"team_num": 2, "horizon": 6}}


@pytest.mark.parametrize("width", WIDTHS)
def test_sliders_show_the_numbers_of_the_files(width: int, server: Server, tmp_path: Path) -> None:
    """In 100 random states: sliders, clicks, limits; today's rule is not on the grid."""
    out, rng = tmp_path / "run", Random(width)
    valmatch.explore(CONFIG, OVER, 12, out=out, page=tmp_path / "page.html")
    table = rows(out / "design.csv")
    ids = list(dict.fromkeys(row["config_id"] for row in table))
    runs: list[Any] = [valmatch.load_result(out / "points" / key) for key in ids]
    names = list(dict.fromkeys(row["response"] for row in table))
    means = [{row["response"]: text_of(row) for row in table if row["config_id"] == k} for k in ids]

    def state() -> dict[str, Any]:
        name = rng.choice(names)
        return {
            "levels": [rng.randrange(3), rng.randrange(3)],
            "axes": [rng.randrange(len(names)), 1, rng.randrange(len(names)), rng.choice([1, -1])],
            "limit": f"{name} <= {low_of(rng.choice(means)[name])!r}",
            "click": rng.choice([None, rng.randrange(9)]),
        }

    states = [state() for _ in range(100)]
    driver = DRIVER.format(width=width, states=json.dumps(states))
    (tmp_path / "frame.html").write_text(driver, encoding="utf-8")
    shown, messages = visit(server, LIGHT)
    assert messages == []
    assert set(server.asked) == {"/frame.html", "/page.html"}
    for wanted, page in zip(states, shown, strict=True):
        both = zip(OVER.values(), page["levels"], strict=True)
        levels = [scale.index(float(text)) for scale, text in both]
        assert wanted["click"] is not None or levels == wanted["levels"]
        point = 3 * levels[0] + levels[1]
        pairs = compare_runs(runs[9], [runs[point]]).comparisons
        for name, _, now, today, change in page["cards"]:
            change = change.partition(" (")[0].removeprefix("+")
            texts = (text.replace(" ±", "") for text in (now, today.removeprefix("today "), change))
            difference = text_of(pairs[name].difference.as_row())
            expected = [means[point][name], means[9][name], difference]
            assert list(texts) == [text.removesuffix(" ?") for text in expected]
        name, _, bound = wanted["limit"].split(" ")
        broken = [low_of(of[name]) > float(bound) for of in means]
        assert page["held"].endswith("broken") == broken[point]
        assert page["wide"] <= width
        assert page["kept"] == broken.count(False)
