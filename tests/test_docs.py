"""The pages of docs/: complete, linked, and true where they are not run as examples."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
import typer
import yaml

import valmatch as library
from tests import doc_examples
from tests.support.command import python, refusal, sets, valmatch
from tests.support.folders import rows
from valmatch import rate_games
from valmatch.cli.app import command_line
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, record
from valmatch.models import registry
from valmatch.models.registry import OWN
from valmatch.ratings.registry import SYSTEMS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

GROUP: Any = typer.main.get_command(command_line())  # typer has its own click

COMMANDS = [
    f"{name} {word}".strip()
    for name, command in GROUP.commands.items()
    for word in vars(command).get("commands", [""])
]
"""Their names, with those of their groups."""

PUBLIC = "valmatch", "ratings", "matching", "policies", "statistics"


def blocks(kind: str) -> list[tuple[Path, str]]:
    """Return the fenced blocks of a kind on all pages."""
    pattern = re.compile(rf"^```{kind}\n(.*?)^```$", re.M | re.S)
    return [
        (page, block)
        for page in doc_examples.pages()
        for block in pattern.findall(page.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_described(name: str) -> None:
    module = importlib.import_module(name if name == "valmatch" else f"valmatch.{name}")
    page = (DOCS / "reference" / f"api-{name}.md").read_text(encoding="utf-8")
    described = re.findall(rf"^\.\. auto\w+:: {re.escape(module.__name__)}\.(\w+)$", page, re.M)
    elsewhere = re.findall(r"`(\w+)`", page) if name == "valmatch" else []
    assert len(described) == len({*described})
    assert sorted({*described, *elsewhere} - {"valmatch"}) == sorted(module.__all__)


def test_every_command_is_described() -> None:
    page = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    described = re.findall(r"^### ([\w ]+)\n\n```\{command\} ([\w ]+)\n```$", page, re.M)
    assert [head for head, _ in described] == [name for _, name in described]
    assert sorted(head for head, _ in described) == sorted(COMMANDS)


def columns_on_the_page(name: str, model: str = "") -> list[str]:
    """Return the columns of a file that the page on files lists."""
    page = (DOCS / "reference" / "files.md").read_text(encoding="utf-8")
    what = f"`{name}` of `{model}`" if model else f"`{name}`"
    (listed,) = re.findall(rf"^\| {re.escape(what)} \| (.*) \|$", page, re.M)
    return re.findall("`([^`]+)`", re.sub(r"\([^)]*\)|; with (?:patience|friends).*", "", listed))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "table", "model"),
    [
        *(("valorant", table, "valorant") for table in ("players", "matches")),
        *(("ladder-duel", table, "ladder") for table in ("games", "tickets", "days")),
        *(("tickets-low", table, "tickets") for table in ("tickets", "matches", "groups")),
    ],
)
def test_the_page_on_files_has_the_columns_of_tables(config: str, table: str, model: str) -> None:
    changes = ["days=2", "warmup_days=1"] if config.startswith("ladder") else []
    found = record(build(load_config(config, changes)), 1, 0)
    (columns,) = (one.columns for one in found.tables if one.name == table)
    assert columns_on_the_page(f"{table}.csv", model) == list(columns)


def test_the_page_on_files_has_the_columns_of_ratings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(DOCS / "_ext")
    written = importlib.import_module("from_the_program")
    lines = "\n".join(written.rating_columns())
    listed = {
        name.strip("`"): re.findall("`([^`]+)`", columns)
        for name, columns in re.findall(r"^\| (`\w+`|all) \| (.*) \|$", lines, re.M)
    }
    log = tmp_path / "log.csv"
    log.write_text("winner,loser,time\na,b,1\nb,c,2\nc,a,3\n")
    for name in ("elo", "glicko2", "trueskill"):
        made = rate_games(log, name, out=tmp_path / name)
        assert made.folder is not None
        header = (made.folder / "ratings.csv").read_text(encoding="utf-8").split("\n")[0]
        assert sorted([*listed["all"], *listed.get(name, [])]) == sorted(header.split(","))
    lines = "\n".join(written.whole_log_columns())
    assert "| `coefficients.csv` | `name`, `value`, `std_error`, `low`, `high`, `unit` |" in lines


def test_every_model_has_a_page() -> None:
    for name in OWN:
        page = (DOCS / "models" / f"{name}.md").read_text(encoding="utf-8")
        for kind in ("factors", "responses"):
            assert f"```{{{kind}}} {name}\n```" in page


def test_options_of_commands_that_are_not_run_exist() -> None:
    options = {
        name: {flag for parameter in command.params for flag in parameter.opts} | {"--help", "-h"}
        for name, command in GROUP.commands.items()
    }
    found = 0
    for page, block in blocks("sh"):
        for command in re.split(r"\n|&&", block.replace("\\\n", " ")):
            words = command.split("#")[0].split()
            if words[:1] != ["valmatch"]:
                continue
            given = {word.partition("=")[0] for word in words[2:] if re.match(r"--?[a-z]", word)}
            assert words[1] in options, f"{page}: {command}"
            assert given <= options[words[1]], f"{page}: {command}"
            found += 1
    assert found > 10


def test_configs_on_pages_are_valid(tmp_path: Path) -> None:
    found = 0
    for _page, block in blocks("yaml"):
        document = yaml.safe_load(block)
        if "model" in document:
            (tmp_path / "config.yaml").write_text(block)
            for name in ("queue.csv", "players.csv"):
                (tmp_path / name).write_text("arrival_hours,rating\n0.1,1500\n")
            library.load_config(str(tmp_path / "config.yaml"))
            found += 1
    assert found >= 3


def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> doc_examples.Verdict:
    """Run the examples of a page."""
    monkeypatch.setattr(doc_examples, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text)
    verdicts = doc_examples.check([page], workers=1)
    return doc_examples.Verdict(
        [line for one in verdicts for line in one.wrong],
        sum(one.ran for one in verdicts),
        [line for one in verdicts for line in one.left_out],
    )


def test_every_disagreement_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = scene(
        tmp_path,
        monkeypatch,
        "```console\n$ echo a\nb\n$ false\n$ printf 'x\\ny\\nz\\n'\nx\n...\nz\n```\n\n"
        "```python\nprint(2 + 2)\n```\n\n```text\n5\n```\n\n"
        "```python\nraise SystemExit(2)\n```\n",
    )
    assert found.ran == 5
    assert [line.splitlines()[0] for line in found.wrong] == [
        "page.md:2: echo a",
        "page.md:4: false",
        "page.md:12: a Python block",
        "page.md:20: a Python block",
    ]


@pytest.mark.long
def test_the_page_for_man_has_every_command(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="needs the extra `docs`")
    made = python("-m", "sphinx", "-q", "-b", "man", DOCS, tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    page = (tmp_path / "valmatch.1").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"valmatch {name} [OPTIONS]" in page
    assert "control\\-variates" in page


PAGES = sorted(
    path
    for place in ("*.md", "docs/**/*.md", "results/**/*.md")
    for path in ROOT.glob(place)
    if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
)

LINK = re.compile(r"(!?)\[[^\]]*\]\(([^()\s]+)(?: \"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.M)
INCLUDED = re.compile(r"^```\{include\} (\S+)$", re.M)
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_local_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


NOTEBOOK = DOCS / "notebooks" / "from-python.ipynb"


@pytest.mark.slow
def test_pictures_of_concepts_are_made_again(tmp_path: Path) -> None:
    made = python(DOCS / "concepts" / "make_pictures.py", "--out", tmp_path)
    assert made.returncode == 0, made.stderr
    for path in sorted((DOCS / "concepts").glob("*.svg")):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.long
@pytest.mark.parametrize("page", ["league", "paper-figure", "queue-log"])
def test_figures_of_tutorials_are_made_again(page: str, tmp_path: Path) -> None:
    from PIL import Image

    made = python(DOCS / "tutorials" / "make_pictures.py", page, "--out", tmp_path)
    assert made.returncode == 0, made.stderr
    kept = sorted((DOCS / "tutorials" / page).glob("*.png"))
    assert [path.name for path in sorted((tmp_path / page).iterdir())] == [p.name for p in kept]
    for path in kept:
        # The bytes are those of one version of matplotlib and of its fonts alone.
        first, second = (
            np.asarray(Image.open(one).convert("L"), np.float64)
            for one in (path, tmp_path / page / path.name)
        )
        assert first.shape == second.shape, path.name
        assert np.mean(np.abs(first - second) > 64.0) < 0.005, path.name


def sources(kind: str) -> list[str]:
    """Return the cells of a kind of the notebook."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert {cell["cell_type"] for cell in cells} == {"code", "markdown"}
    for cell in cells:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


@pytest.mark.slow
def test_the_cells_of_the_notebook_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(sources("code"), 1):
        exec(compile(source, f"cell {number}", "exec"), names)
    printed = capsys.readouterr().out
    assert re.search(r"^\d+ players, \d+ matches$", printed, re.MULTILINE)
    wait, change = names["wait"], names["comparison"].comparisons["avg_wait_time"].difference
    assert wait.ci_low < wait.mean < wait.ci_high
    assert change.ci_high < 0.0  # the looser rule makes waits shorter
    moved = abs(names["after"] - names["before"])[:, 0]
    assert min(moved[:2]) > max(moved[2:])  # those of whom least is known
    assert len(names["figure"].axes) == 1


HOW_TO = Path(__file__).parent.parent / "docs" / "how-to"


def script(page: str, kind: str, contains: str) -> str:
    """Return the fenced block of a page of docs/how-to that is of a kind and contains some text."""
    text = (HOW_TO / page).read_text(encoding="utf-8")
    blocks = re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (found,) = (block for block in blocks if contains in block)
    return str(found)


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_the_python_script(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(script("python.md", "python", "import valmatch\n"))
    done = python(path, cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert done.stderr == ""
    assert re.fullmatch(r"1\d\.\d minutes, [\d.]+ to [\d.]+, n = 500", lines[0])
    assert re.fullmatch(r"[+-]0\.\d\d minutes against the defaults", lines[2])
    assert re.fullmatch(r"\d+ players, \d+ matches", lines[3])


def _install(monkeypatch: pytest.MonkeyPatch, point: EntryPoint) -> None:
    """Let a model be found as if its package were installed."""
    monkeypatch.setitem(vars(registry.MODELS), "others", {point.name: point})


@pytest.mark.slow
def test_the_added_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "duels.py").write_text(script("own-model.md", "python", "duels.py"))
    monkeypatch.syspath_prepend(tmp_path)
    package = tomllib.loads(script("own-model.md", "toml", registry.GROUP))
    ((name, value),) = package["project"]["entry-points"][registry.GROUP].items()
    _install(monkeypatch, EntryPoint(name, value, registry.GROUP))
    config = tmp_path / "duels.yaml"
    config.write_text(valmatch("factors", "duels").out)
    assert "Largest difference of the ratings in a duel." in config.read_text()
    done = valmatch("replicate", config, "-n", 20, "--out", tmp_path / "o")
    assert (done.code, "avg_wait_time" in done.out) == (0, True)
    assert valmatch("simulate", config, "--out", tmp_path / "s").code == 0
    assert (tmp_path / "s" / "duels.csv").read_text().startswith("minutes,wait,diff\n")
    assert valmatch("plot", tmp_path / "s").code == 0
    figure = library.plot(tmp_path / "s")
    assert [axes.get_title() for axes in figure.axes] == ["wait of duels", "diff of duels"]
    narrow = valmatch("replicate", config, "-n", 3, "--set", "tolerance=0", "--json")
    assert "avg_wait_time, avg_diff are undefined in 3 of 3 replications" in narrow.err
    changed = valmatch("compare", config, "--set", "tolerance=50", "-n", 20)
    assert (changed.code, "tolerance: 100 -> 50" in changed.out) == (0, True)
    problem = (
        "optimize={variables: {tolerance: {low: 1, high: 500}},"
        " objective: {d: {response: avg_diff}},"
        " constraints: {w: {response: avg_wait_time, at_most: 5}}}"
    )
    best = valmatch("optimize", config, "--set", problem, "--budget", 100, "--solver", "random")
    assert (best.code, "feasible: yes" in best.out) == (0, True)
    (tmp_path / "duels.py").write_text((tmp_path / "duels.py").read_text() + "#\n")
    for command in (
        ("replicate", config, "-n", 30, "--resume", "--out", tmp_path / "o"),
        ("combine", tmp_path / "all", tmp_path / "o"),
    ):
        assert "the code of the model has changed: digest " in refusal(*command)


@pytest.mark.slow
@pytest.mark.long
def test_added_rules_policies_and_systems(tmp_path: Path) -> None:
    """As they are printed, installed by what `pip` would write of their entry points."""
    pages = {"newest": "own-rule.md", "early": "own-rule.md", "cooling_elo": "own-rating-system.md"}
    points = [script(page, "toml", f'"{name}:').replace('"', "") for name, page in pages.items()]
    for name, page in pages.items():
        (tmp_path / f"{name}.py").write_text(script(page, "python", f'"""{name}.py: '))
    (tmp_path / "mine-1.dist-info").mkdir()
    (tmp_path / "mine-1.dist-info" / "METADATA").write_text("Name: mine\nVersion: 1\n")
    named = "".join(points).replace("project.entry-points.", "")
    (tmp_path / "mine-1.dist-info" / "entry_points.txt").write_text(named)
    log = tmp_path / "games.csv"
    log.write_text("winner,loser\nann,bob\n")

    def run(*words: object) -> subprocess.CompletedProcess[str]:
        paths = f"{tmp_path}{os.pathsep}{Path(library.__file__).parent.parent}"
        environment = {**os.environ, "PYTHONPATH": paths}
        return python("-m", "valmatch", *words, env=environment, cwd=tmp_path)

    newest = ("replicate", "valorant", "--set", "matching=newest", "--out", "o")
    changes = ("rule.policy=early", "rating.system=cooling-elo", "days=2", "warmup_days=1")
    for words in (newest, ("replicate", "ladder-duel", *sets(changes))):
        done = run(*words, "-n", 2)
        assert (done.returncode, "avg_wait_time" in done.stdout) == (0, True), done.stderr
    assert run("rate", log, "--system", "cooling-elo", "--out", "r").returncode == 0
    ratings = {row["player"]: row["rating"] for row in rows(tmp_path / "r" / "ratings.csv")}
    assert ratings == {"ann": "1532.0", "bob": "1468.0"}
    meant = run("factors", "ladder", "--search", "policy").stdout.replace("#", "").split()
    assert "early: how early both came." in " ".join(meant)
    (tmp_path / "newest.py").write_text((tmp_path / "newest.py").read_text() + "#\n")
    done = run(*newest, "-n", 3, "--resume")
    assert (done.returncode, "what other packages bring has changed: " in done.stderr) == (2, True)


def test_a_system_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("mine", "json:JSONDecoder", "valmatch.rating_systems")
    monkeypatch.setitem(vars(SYSTEMS), "others", {"mine": point})
    line = refusal("rate", "games.csv", "--system", "mine")
    assert line == (
        "rating system mine: json:JSONDecoder cannot be imported: TypeError: it is no System"
    )


def test_a_model_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, EntryPoint("broken", "no_such_module:ENTRY", registry.GROUP))
    line = refusal("replicate", "valorant", "--set", "model=broken")
    assert line.startswith("model broken: no_such_module:ENTRY cannot be imported: Module")


@pytest.mark.long
def test_the_added_package_installs(tmp_path: Path) -> None:
    """As it is printed; without what it needs, which is here."""
    (tmp_path / "duels.py").write_text(script("own-model.md", "python", "duels.py"))
    (tmp_path / "pyproject.toml").write_text(script("own-model.md", "toml", registry.GROUP))
    place = tmp_path / "installed"
    made = python("-m", "pip", "install", "--quiet", "--no-deps", "--target", place, tmp_path)
    if "No matching distribution found for setuptools" in made.stderr:
        pytest.skip("pip finds no setuptools here")
    assert made.returncode == 0, made.stderr
    environment = {**os.environ, "PYTHONPATH": str(place)}
    done = python("-m", "valmatch", "factors", "duels", env=environment)
    assert done.stdout.startswith("# duels: players wait for a duel.")
