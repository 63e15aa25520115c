"""What folders hold."""

from __future__ import annotations

from pathlib import Path


def everything(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def results(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder but manifests, which hold the time."""
    found = everything(folder).items()
    return {name: content for name, content in found if not name.endswith("manifest.json")}
