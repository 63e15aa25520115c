"""Cache folders of the kernels: one for each state, those of former states are removed."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

import valmatch
from valmatch import compilation
from valmatch.compilation import KERNELS, UNUSED, _cache_folder, announce_compilation
from valmatch.matching import joint, joint_search, team_first
from valmatch.models.opponent.sample_path import play_path
from valmatch.models.valorant.arrivals import draw_players
from valmatch.policies.knowledge_gradient import best_opponent

OLD_NAME = "valmatch-0123456789ab"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return an install with one kernel."""
    package = tmp_path / "one" / "valmatch"
    install(package)
    return package


def install(package: Path) -> None:
    (package / "ratings").mkdir(parents=True)
    (package / "compilation.py").touch()
    (package / "ratings" / "elo.py").touch()


def change(package: Path) -> None:
    with (package / "ratings" / "elo.py").open("a") as file:
        file.write("#\n")


def start(package: Path, given: Path | str = "") -> Path:
    """Return the cache folder of a new process."""
    return Path(_cache_folder.__wrapped__(package, str(given)))


def leave(folder: Path) -> Path:
    """Let a cache folder with something in it be one that nobody uses any more."""
    inner = folder / "ratings_1"
    inner.mkdir(parents=True, exist_ok=True)
    (inner / "elo.nbi").touch()
    long_ago = time.time() - UNUSED - 60
    os.utime(folder, (long_ago, long_ago))
    return folder


def test_a_new_state_removes_the_former_ones(package: Path) -> None:
    beside = package / "__pycache__"
    other = leave(beside / "valmatch-here")
    leave(beside / OLD_NAME)
    former = leave(start(package))
    assert not (beside / OLD_NAME).exists()
    assert start(package) == former
    leave(former)
    change(package)
    present = start(package)
    assert present.parent == beside
    assert set(beside.iterdir()) == {present, other}
    leave(present)
    assert start(package) == present
    assert (present / "ratings_1" / "elo.nbi").exists()


def test_a_former_state_that_may_be_in_use_is_kept(package: Path) -> None:
    former = leave(start(package))
    start(package)
    change(package)
    assert start(package) != former
    assert former.exists()


def test_installs_that_share_a_folder_leave_each_other_alone(package: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    another = tmp_path / "two" / "valmatch"
    install(another)
    theirs, nameless = leave(start(another, shared)), leave(shared / OLD_NAME)
    former = leave(start(package, shared))
    change(package)
    present = start(package, shared)
    assert set(shared.iterdir()) == {theirs, nameless, present}
    assert former not in (theirs, present)
    assert not (package / "__pycache__").exists()


def test_processes_that_start_at_the_same_time(package: Path) -> None:
    formers = []
    for _ in range(5):
        formers.append(start(package))
        change(package)
    for former in formers:
        leave(former)
    with ThreadPoolExecutor(8) as pool:
        folders = set(pool.map(start, 8 * [package]))
    assert len(folders) == 1
    assert set((package / "__pycache__").iterdir()) == folders


def test_a_place_that_cannot_be_written_is_no_error(package: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert start(package, file).parent == file


def test_every_folder_with_kernels_counts() -> None:
    package = Path(valmatch.__file__).parent
    users = {
        path.relative_to(package).parts[0]
        for path in package.rglob("*.py")
        if "from valmatch.compilation import" in path.read_text("utf-8")
    }
    assert users == set(KERNELS)


class Kernel:
    """What is announced of a kernel, kept in `place`."""

    def __init__(self, place: Path | None) -> None:
        self.py_func = start
        self.overloads: dict[str, str] = {}
        self.stats = SimpleNamespace(cache_path=place and str(place))


def test_compilation_is_announced_once_and_truly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "matching_1"
    place.mkdir()

    def said(*kernels: Kernel) -> str:
        monkeypatch.setattr(compilation, "_announced", False)
        for kernel in kernels:
            announce_compilation(kernel)
        return capsys.readouterr().err

    empty = Kernel(place)
    assert said(empty, empty, Kernel(None)) == f"compiling the kernels once (kept in {place})\n"
    assert said(Kernel(None)) == (
        "compiling kernels (not kept: no folder to write to; NUMBA_CACHE_DIR names one)\n"
    )
    (place / "other.py-1.nbi").touch()
    assert said(empty) == f"compiling further kernels once (kept in {place})\n"
    (place / "test_compilation.start-1.nbi").touch()
    assert said(empty) == ""
    used = Kernel(None)
    used.overloads = {"of a call": "compiled"}
    assert said(used) == ""
    monkeypatch.setattr(compilation, "parent_process", lambda: object())
    assert said(Kernel(None)) == ""  # a worker process


def swapped(first: NDArray[np.float64], second: NDArray[np.float64], times: int) -> float:
    """Hand arrays around, which numba counts references for."""
    for _ in range(times):
        first, second = second, first
    return float(first[0])


def test_kernels_that_make_no_array_count_no_references() -> None:
    """They are compiled with an option of numba that is not documented."""
    arrays = np.array([1.0]), np.array([2.0])
    decorate: Any = numba.njit  # whose types know neither the option nor the code
    for kernel, counts in ((decorate(swapped), True), (decorate(_nrt=False)(swapped), False)):
        assert kernel(*arrays, 3) == 2.0
        (code,) = kernel.inspect_llvm().values()
        assert ("NRT_incref" in code) == counts
    for kernel in (play_path, best_opponent, draw_players, team_first.run):
        assert vars(kernel)["targetoptions"]["_nrt"] is False


def test_no_part_of_joint_matching_counts_references() -> None:
    """One part that did would count whatever array it hands on."""
    parts = [
        part
        for module in (joint, joint_search)
        for part in vars(module).values()
        if hasattr(part, "py_func")
    ]
    assert {joint.run, joint_search.find_match} <= set(parts)
    options = [vars(part)["targetoptions"] for part in parts]
    # What is expanded is compiled with the kernel that it stands in.
    assert all(one.get("inline") == "always" or one["_nrt"] is False for one in options)
