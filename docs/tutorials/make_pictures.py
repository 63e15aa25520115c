"""Run the commands of the tutorials and keep the figures that their pages show.

The console commands of a page run in a folder of their own, which gets the files of the folder that
has the page's name. Figures are reduced to a palette of 64 colours, which makes them a third as
large. Takes about two minutes.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent

FIGURES = {
    "queue-log": ("now/hours.png", "frontier/frontier.png"),
    "league": ("season/history.png",),
    "paper-figure": ("fig1/curves.png",),
}
"""By the name of a page: what is kept in the folder of that name."""

COLOURS = 64


def make(page: str, out: Path) -> None:
    """Run the commands of a page and keep its figures."""
    text = (HERE / f"{page}.md").read_text(encoding="utf-8")
    paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        shutil.copytree(HERE / page, folder, dirs_exist_ok=True)
        for command in re.findall(r"^\$ (.*)", text, re.MULTILINE):
            subprocess.run(
                ["bash", "-c", command],
                cwd=folder,
                env={**os.environ, "PATH": paths, "COLUMNS": "80"},
                check=False,  # a page may show a refusal
                capture_output=True,
            )
        out.mkdir(parents=True, exist_ok=True)
        for name in FIGURES[page]:
            with Image.open(folder / name) as figure:
                reduced = figure.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
            reduced.save(out / Path(name).name, optimize=True)


def main() -> None:
    """Make the figures of the pages that the command line names, or of all."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("pages", nargs="*", metavar="PAGE", help=f"of {', '.join(FIGURES)}; or all")
    words.add_argument("--out", type=Path, default=HERE, help="folder of the folders of figures")
    given = words.parse_args()
    for page in given.pages or FIGURES:
        if page not in FIGURES:
            words.error(f"no page {page!r} (allowed: {', '.join(FIGURES)})")
        make(page, given.out / page)


if __name__ == "__main__":
    main()
