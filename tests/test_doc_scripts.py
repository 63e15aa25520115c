"""The scripts of docs/ do what their pages say; `tests.doc_examples` runs all that is printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import valmatch as library
from tests.support.command import python, refusal, valmatch
from tests.support.crashes import contents
from valmatch.models import registry

HOW_TO = Path(__file__).parent.parent / "docs" / "how-to"


def script(page: str, kind: str, contains: str) -> str:
    """Return the fenced block of a page of docs/how-to that is of a kind and contains some text."""
    text = (HOW_TO / page).read_text(encoding="utf-8")
    blocks = re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (found,) = (block for block in blocks if contains in block)
    return str(found)


@pytest.mark.slow
def test_the_job_array(tmp_path: Path) -> None:
    job = script("cluster.md", "sh", "#SBATCH").replace("-n 100000", "-n 20")
    count = int(job.partition("--array=0-")[2].split()[0]) + 1
    assert count == 16
    paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    array = {"SLURM_ARRAY_TASK_COUNT": "16", "SLURM_ARRAY_TASK_MIN": "0"}
    for task in (0, 15):
        environment = {**os.environ, **array, "SLURM_ARRAY_TASK_ID": str(task), "PATH": paths}
        subprocess.run(
            ["bash", "-c", job], cwd=tmp_path, env=environment, check=True, capture_output=True
        )
    for task in range(1, 15):
        shard = ["--shard", f"{task}/16", "--out", tmp_path / "run"]
        assert valmatch("replicate", "valorant", "-n", 20, *shard).code == 0
    assert valmatch("combine", tmp_path / "run").code == 0
    assert valmatch("replicate", "valorant", "-n", 20, "--out", tmp_path / "one").code == 0
    assert contents(tmp_path / "run") == contents(tmp_path / "one")


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
    monkeypatch.setitem(vars(registry.MODELS), "_others", {point.name: point})


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
    assert (changed.code, "tolerance: 100.0 -> 50.0" in changed.out) == (0, True)
    problem = (
        "optimize={variables: {tolerance: {low: 1, high: 500}},"
        " objective: {d: {response: avg_diff}},"
        " constraints: {w: {response: avg_wait_time, at_most: 5}}}"
    )
    best = valmatch("optimize", config, "--set", problem, "--budget", 100, "--solver", "random")
    assert (best.code, "feasible: yes" in best.out) == (0, True)


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
