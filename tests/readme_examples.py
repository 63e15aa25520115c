"""Runs the examples of the README and compares what they print with what stands there.

An example is a fenced block of kind ``console``: lines that start with ``$`` are commands, the
lines below them what they print on stdout. ``...`` stands for any text within a line, and alone
on a line for any lines. Each block runs in an empty folder of its own.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def blocks(text: str) -> list[str]:
    """Return the contents of the console blocks."""
    return re.findall(r"^```console\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def examples(block: str) -> list[tuple[str, str]]:
    """Return the commands of a block with what they print."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def pattern(expected: str) -> str:
    """Return a regular expression for what a command prints, trailing blanks aside."""
    lines = [line.rstrip() for line in expected.rstrip("\n").split("\n")]
    return "\n".join(
        r"(?:.*\n)*?.*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*")
        for line in lines
    )


def run(command: str, folder: Path) -> str:
    """Return what a command prints on stdout, trailing blanks of lines removed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 3):  # 3: a target was missed, which an example may show
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr}")
    return "\n".join(line.rstrip() for line in done.stdout.rstrip("\n").split("\n"))


def main() -> None:
    """Run all examples; exit with 1 at the first that prints something else."""
    count = 0
    for block in blocks(README.read_text(encoding="utf-8")):
        with tempfile.TemporaryDirectory() as folder:
            for command, expected in examples(block):
                printed = run(command, Path(folder))
                if not re.fullmatch(pattern(expected), printed):
                    sys.exit(f"{command}: expected\n{expected}\ngot\n{printed}")
                count += 1
    if count == 0:
        sys.exit("the README has no examples")
    print(f"{count} README examples print what the README says")


if __name__ == "__main__":
    main()
