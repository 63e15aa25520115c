"""Bad folders of runs: every file that a later command reads from them."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any
from zipfile import ZipFile

import numpy as np

from tests.bad_inputs.bases import CURVES, LOG, RUNS
from tests.bad_inputs.case import FAULTY, Case, Content, Odd
from tests.bad_inputs.damage import Damage, broken_file, changed_json
from tests.bad_inputs.tables import NUMBER, damaged_table

MANIFEST = "manifest.json"

IDENTITY = ("command", "config_id", "seed", "design_id", "problem_id")
"""Keys of a manifest that tell one run from another."""


def _resumed(base: str) -> Sequence[str]:
    """Return the command that goes on with a run."""
    return (*RUNS[base], "--resume", "--out", FAULTY)


def _readers(base: str) -> list[tuple[Sequence[str], str]]:
    """Return the commands that read a run, with the folder that each may write to."""
    plot = (("plot", FAULTY), FAULTY)
    whole = [(("combine", "out", FAULTY), "out"), (("combine", "out", FAULTY, "--check"), "out")]
    if base in ("simulate", "rate", "systems"):
        return [plot]
    if base in ("replicate", "controls", "curves", "shard"):
        whole += [(("compare", FAULTY, "good"), "out"), (("combine", FAULTY, "good"), FAULTY)]
    if base in ("compare", "optimize", "study", "frontier", "front"):
        whole = []
    return [plot, (_resumed(base), FAULTY), (_resumed(base), FAULTY), *whole]


def _files(bases: Path, base: str, name: str, content: Content) -> dict[str, Content]:
    """Return a run of which one file is bad, and a good one beside it."""
    return {FAULTY: bases / base, "good": bases / base, f"{FAULTY}/{name}": content}


def manifest_case(number: int, rng: Random, bases: Path) -> Case:
    """Return a command on a folder with a bad manifest."""
    base = rng.choice(list(RUNS))
    argv, out = rng.choice(_readers(base))
    name = MANIFEST
    if base == "design" and rng.random() < 0.4:
        name = rng.choice(_names(bases / base, f"points/*/{MANIFEST}"))
    if base == "compare" and rng.random() < 0.4:
        name = f"{rng.choice('ab')}/{MANIFEST}"
    if base == "design" and rng.random() < 0.2:
        return _traversal(number, rng, bases)
    content = (bases / base / name).read_bytes()
    read = name == MANIFEST and argv[0] != "plot" and argv[:2] != ("combine", FAULTY)
    damage = changed_json(rng, content, lambda path: read and path[0] in IDENTITY)
    files = _files(bases, base, name, damage.content)
    if rng.random() < 0.05:
        odd = rng.choice((Odd.FOLDER, Odd.PIPE, Odd.ZEROS))
        damage = damage._replace(what=odd.value, certain=True)
        files[f"{FAULTY}/{name}"] = odd
    what = f"{base}/{name}: {damage.what}"
    certain = damage.certain and (name == MANIFEST or argv[0] != "plot")
    return Case("manifests", number, argv, files, (FAULTY,), certain, out, what=what)


def _traversal(number: int, rng: Random, bases: Path) -> Case:
    """Return a command on a design one of whose points lies elsewhere."""
    manifest = json.loads((bases / "design" / MANIFEST).read_bytes())
    ids = manifest["design"]["config_ids"]
    point = bases / "design" / "points" / ids[0]
    ids[0] = rng.choice(("../../elsewhere", "../../../elsewhere", ".", "..", "/dev", "", "a/b"))
    files = _files(bases, "design", MANIFEST, json.dumps(manifest, indent=2).encode())
    files |= {"elsewhere": point, "../elsewhere": point}
    argv, out = rng.choice(_readers("design"))
    what = f"design: config_ids: {ids[0]!r}"
    return Case("manifests", number, argv, files, (FAULTY,), argv[0] == "combine", out, what=what)


def _names(folder: Path, pattern: str) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.glob(pattern))


def rows_case(number: int, rng: Random, bases: Path) -> Case:
    """Return a command on a folder with bad replications or control variates."""
    base = rng.choice(("replicate", "controls", "shard", "design", "compare", "curves"))
    name = "controls.csv" if base == "controls" and rng.random() < 0.5 else "replications.csv"
    if base == "shard":
        name = "replications-0-of-2.csv"
    place = {"design": f"points/*/{name}", "compare": f"*/{name}"}.get(base, name)
    name = rng.choice(_names(bases / base, place))
    content = (bases / base / name).read_bytes()
    columns = content.decode().splitlines()[0].split(",")
    bad = dict.fromkeys(columns, NUMBER)
    damage = damaged_table(rng, content, bad, columns[:6])
    argv, out = rng.choice([one for one in _readers(base) if one[0][0] != "plot"])
    files = _files(bases, base, name, damage.content)
    # Undefined values are empty or nan; what a kill may leave of a last line is dropped.
    header = damage.what == "UTF-16" or damage.what.startswith("column")
    certain = header and not (name == "controls.csv" and argv[0] in ("compare", "combine"))
    what = f"{base}/{name}: {damage.what}"
    return Case("rows", number, argv, files, (FAULTY,), certain, out, what=what)


def curves_case(number: int, rng: Random, bases: Path) -> Case:
    """Return a command on a folder with bad sums of curves, which may be made again."""
    with np.load(bases / "curves" / "curves.npz") as found:
        arrays: dict[str, Any] = dict(found)
    name = rng.choice(list(arrays))
    good = arrays[name]
    odd = {
        "missing": None,
        "no dimension": good.ravel()[0],
        "flat": good.ravel(),
        "empty": good[:0],
        "float64": good.astype(np.float64),
        "complex": good.astype(np.complex128),
        "words": good.astype(str),
        "objects": np.array([{"a": 1}], dtype=object),
        "records": np.zeros(3, dtype=[("a", "i8")]),
        "bool": good.astype(bool),
        "huge": np.full_like(good, np.iinfo(np.int64).max if good.dtype.kind == "i" else 9),
        "negative": -good,
        "transposed": good.T,
        "twice": np.concatenate([good, good]),
    }
    what, array = rng.choice(list(odd.items()))
    file = io.BytesIO()
    arrays[name] = array
    np.savez(file, **{key: value for key, value in arrays.items() if value is not None})
    content, what = file.getvalue(), f"{name}: {what}"
    if rng.random() < 0.4:
        what, content = _broken_archive(rng, content)
    argv = rng.choice(
        (
            ("replicate", *CURVES, "-n", "14", "--resume", "--out", FAULTY),
            ("combine", "out", FAULTY),
            ("compare", FAULTY, "good"),
            ("combine", FAULTY, "good"),
        )
    )
    files = _files(bases, "curves", "curves.npz", content)
    out = FAULTY if FAULTY in argv[1:2] or argv[0] == "replicate" else "out"
    return Case("curves", number, argv, files, (FAULTY,), False, out, what=what)


def _broken_archive(rng: Random, content: bytes) -> tuple[str, bytes]:
    """Return an archive that is none, or holds none of what it should."""
    at = rng.randrange(len(content))
    cut, flipped = content[:at], content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]
    bomb, pickled = io.BytesIO(), io.BytesIO()
    with ZipFile(bomb, "w", 8) as archive:
        header = b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (1"
        header += b"0" * 12 + b",), }"
        archive.writestr("replications.npy", header.ljust(127) + b"\n" + b"\0" * (1 << 22))
    with ZipFile(pickled, "w") as archive:
        archive.writestr("replications.npy", b"cos\nsystem\n(S'touch escaped'\ntR.")
    other = io.BytesIO()
    np.save(other, np.arange(3))
    return rng.choice(
        [
            ("truncated", cut),
            ("a byte flipped", flipped),
            ("an array of its own", other.getvalue()),
            ("a bomb", bomb.getvalue()),
            ("a pickle in the archive", pickled.getvalue()),
            ("a pickle", b"cos\nsystem\n(S'touch escaped'\ntR."),
            ("binary", rng.randbytes(300)),
            ("empty", b""),
        ]
    )


def journal_case(number: int, rng: Random, bases: Path) -> Case:
    """Return an optimisation that goes on with bad evaluations, which may be made again."""
    base = rng.choice(("optimize", "study", "frontier", "front"))
    content = (bases / base / "evaluations.csv").read_bytes()
    columns = content.decode().splitlines()[0].split(",")
    damage = damaged_table(rng, content, dict.fromkeys(columns, NUMBER), columns)
    files = _files(bases, base, "evaluations.csv", damage.content)
    if rng.random() < 0.05:
        odd = rng.choice(list(Odd))
        damage, files[f"{FAULTY}/evaluations.csv"] = damage._replace(what=odd.value), odd
    what = f"{base}: {damage.what}"
    return Case("journals", number, _resumed(base), files, (FAULTY,), False, FAULTY, what=what)


RESULTS = {
    "replicate": ("replications.csv", "summary.json"),
    "curves": ("curves.csv", "summary.json"),
    "design": ("design.csv", "summary.json"),
    "compare": ("summary.json",),
    "optimize": ("summary.json", "candidates.csv", "trajectory.csv"),
    "study": ("summary.json", "progress.csv", "candidates.csv", "trajectory.csv"),
    "frontier": ("summary.json", "frontier.csv"),
    "front": ("summary.json", "front.csv"),
    "rate": ("summary.json", "ratings.csv", "history.csv"),
    "systems": ("summary.json",),
    "chosen": ("summary.json", "batch.csv"),
    "planned": ("summary.json", "plan.csv"),
    "simulate": ("players.csv", "matches.csv", "responses.json"),
}
"""What is read of each run by those who draw it or report on it."""


def results_case(number: int, rng: Random, bases: Path) -> Case:
    """Return the drawing of bad results."""
    what, files = _bad_results(rng, bases)
    return Case("results", number, ("plot", FAULTY), files, (FAULTY,), False, FAULTY, what=what)


def report_case(number: int, rng: Random, bases: Path) -> Case:
    """Return the report of bad results, or of a run with a bad manifest."""
    if rng.random() < 0.3:
        base = rng.choice(list(RESULTS))
        damage = changed_json(rng, (bases / base / MANIFEST).read_bytes())
        files = _files(bases, base, MANIFEST, damage.content)
        what = f"{base}/{MANIFEST}: {damage.what}"
    else:
        what, files = _bad_results(rng, bases)
    options = rng.choice((("--markdown",), ("--out", "page.html"), ("--out", "-")))
    argv = ("report", FAULTY, *options)
    return Case("reports", number, argv, files, (FAULTY,), False, "page.html", what=what)


def _bad_results(rng: Random, bases: Path) -> tuple[str, dict[str, Content]]:
    """Return what is bad in the results of a run, and the files of it."""
    base = rng.choice(list(RESULTS))
    name = rng.choice(RESULTS[base])
    content = (bases / base / name).read_bytes()
    if name.endswith(".json"):
        damage = changed_json(rng, content)
    else:
        columns = content.decode().splitlines()[0].split(",")
        damage = damaged_table(rng, content, dict.fromkeys(columns, (*NUMBER, "../../x")), columns)
    if rng.random() < 0.1:
        damage = broken_file(rng, content)
    files = _files(bases, base, name, damage.content)
    if rng.random() < 0.05:
        odd = rng.choice((Odd.FOLDER, Odd.PIPE, Odd.ZEROS))
        damage, files[f"{FAULTY}/{name}"] = Damage(b"", odd.value, False), odd
    files |= {LOG: bases / LOG}
    return f"{base}/{name}: {damage.what}", files
