"""What a release consists of: made by one command, and usable by whoever installs it."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

MOST_BYTES = 3_000_000
"""Largest wheel."""


def test_the_version_stands_in_one_place() -> None:
    """Everything else asks for it; the list of changes has a section for it."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    files = [*ROOT.glob("valmatch/**/*.py"), *ROOT.glob("docs/**/*.py"), ROOT / "CITATION.cff"]
    assert [path for path in files if f'"{version}"' in path.read_text(encoding="utf-8")] == []
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_a_release_installs_and_runs_in_an_empty_environment(tmp_path: Path) -> None:
    dist, environment = tmp_path / "dist", tmp_path / "environment"
    made = subprocess.run(
        [str(ROOT / ".ci" / "release"), str(dist)],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    (wheel,), (source,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    assert wheel.stat().st_size < MOST_BYTES
    names = zipfile.ZipFile(wheel).namelist()
    assert "valmatch/configs/valorant.yaml" in names
    assert not [name for name in names if name.startswith(("tests/", "docs/", "results/"))]
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "docs/index.md", "tests/test_release.py", "CITATION.cff"} <= inside
    assert not [name for name in inside if name.startswith(("site/", ".venv"))]

    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip = [str(environment / "bin" / "pip"), "install", "-q", str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    done = subprocess.run(
        [str(environment / "bin" / "valmatch"), "replicate", "smoke", "-q"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
