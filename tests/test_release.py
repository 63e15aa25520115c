"""What a release consists of: made by one command, and usable by whoever installs it."""

from __future__ import annotations

import filecmp
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

MOST_BYTES = 3_000_000
"""Largest wheel without kernels."""


def test_the_version_stands_in_one_place() -> None:
    """Everything else asks for it; the list of changes has a section for it."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    files = [*ROOT.glob("valmatch/**/*.py"), *ROOT.glob("docs/**/*.py"), ROOT / "CITATION.cff"]
    assert [path for path in files if f'"{version}"' in path.read_text(encoding="utf-8")] == []
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_a_release_installs_and_runs_in_an_empty_environment(tmp_path: Path) -> None:
    """The wheel with kernels compiles nothing, and gives the same bytes as the other."""
    dist, environment, kernels = (tmp_path / name for name in ("dist", "environment", "kernels"))
    run = partial(subprocess.run, check=True, capture_output=True, text=True, cwd=tmp_path)
    run([ROOT / ".ci" / "release", dist], env={**os.environ, "PYTHON": sys.executable})
    (pure,), (with_kernels,) = dist.glob("*-none-any.whl"), dist.glob("*-cp3*.whl")
    (source,) = dist.glob("*.tar.gz")
    assert pure.stat().st_size < MOST_BYTES
    names = zipfile.ZipFile(pure).namelist()
    assert "valmatch/configs/valorant.yaml" in names
    assert not [name for name in names if name.startswith(("tests/", "docs/", "results/"))]
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "docs/index.md", "tests/test_release.py", "CITATION.cff"} <= inside
    assert not [name for name in inside if name.startswith(("site/", ".venv"))]

    run([sys.executable, "-m", "venv", environment])
    replicate = [environment / "bin" / "valmatch", "replicate", "valorant", "-n", "10", "--out"]
    for wheel, compiles in ((with_kernels, False), (pure, True)):
        run([environment / "bin" / "pip", "install", "-q", "--force-reinstall", wheel])
        empty = {"PYTHONPATH": "", "NUMBA_CACHE_DIR": str(kernels / wheel.stem)}
        done = run([*replicate, wheel.stem], env={**os.environ, **empty})
        assert ("compiling" in done.stderr) == compiles
    for name in ("replications.csv", "summary.csv"):
        assert filecmp.cmp(tmp_path / pure.stem / name, tmp_path / with_kernels.stem / name, False)
