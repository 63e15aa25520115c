"""Cache folders of the kernels: one for each state of a file, those of former states removed."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from valmatch.kernels import cache as kernel_cache
from valmatch.kernels.cache import UNUSED, cache_folder
from valmatch.kernels.first_run import Compiling


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an install with kernels that call one another."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    package = tmp_path / "one" / "valmatch"
    monkeypatch.setattr(kernel_cache, "PACKAGE", package)
    texts = {
        "kernels/compilation.py": "",
        "errors.py": "",
        "ratings/__init__.py": "",
        "ratings/elo.py": "from valmatch.ratings.scale import points\n",
        "ratings/elo.npy": "data of elo.py",
        "ratings/scale.py": "def points():\n    from valmatch.errors import warned\n",
        "ratings/glicko2.py": "from valmatch.kernels.compilation import kernel\n",
        "matching/__init__.py": "",
        "matching/pairs.py": "from valmatch.ratings import (\n    elo,\n    glicko2 as two,\n)\n",
        "policies/registry.py": "import_module(f'{__package__}.{name}')\n",
        "policies/nearest.py": "",
        "policies/unrelated.txt": "",
    }
    for name, text in texts.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    return package


def change(package: Path, name: str = "ratings/elo.py") -> None:
    with (package / name).open("a") as file:
        file.write("#\n")


def start(
    package: Path,
    cache: Path | str = "",
    name: str = "ratings/elo.py",
    variant: str = "",
    parts: tuple[str, ...] = (),
) -> Path:
    """Return the cache folder of a file's kernels in a new process."""
    kernel_cache._contents.cache_clear()
    kernel_cache._modules.cache_clear()
    files = tuple(package / part for part in parts)
    return Path(cache_folder.__wrapped__(package / name, str(cache), variant, files))


def leave(folder: Path) -> Path:
    """Let a cache folder with something in it be one that nobody uses any more."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "elo.nbi").touch()
    long_ago = time.time() - UNUSED - 60
    os.utime(folder, (long_ago, long_ago))
    return folder


@pytest.mark.parametrize(
    ("source", "others"),
    [
        ("ratings/elo.py", {"ratings/elo.npy", "ratings/scale.py"}),
        ("ratings/scale.py", set()),
        ("ratings/glicko2.py", set()),
        (
            "matching/pairs.py",
            {f"ratings/{name}" for name in ("__init__.py", "elo.npy", "elo.py", "glicko2.py")}
            | {"ratings/scale.py"},
        ),
        ("policies/registry.py", {"policies/nearest.py"}),
    ],
)
def test_kernels_have_the_state_of_the_files_they_are_compiled_from(
    package: Path, source: str, others: set[str]
) -> None:
    files = {str(path.relative_to(package)) for path in package.rglob("*.*")}
    used = set()
    for name in sorted(files):
        before = start(package, name=source)
        os.utime(package / name)
        assert start(package, name=source) == before  # by content, not by time
        change(package, name)
        if start(package, name=source) != before:
            used.add(name)
    # What is imported within a function counts as well.
    lazily = {"errors.py"} if "ratings/scale.py" in {source, *others} else set()
    assert used == {"kernels/compilation.py", source, *others, *lazily}


def test_a_variant_of_a_kernel_has_a_folder_of_its_own(package: Path) -> None:
    """It is that of the file of the kernel and of the files of the functions that it calls."""

    def variant(name: str) -> Path:
        return start(package, "", "policies/nearest.py", name, (f"ratings/{name}.py",))

    elo, glicko2 = (leave(variant(name)) for name in ("elo", "glicko2"))
    alone = leave(start(package, name="policies/nearest.py"))
    assert elo.name.startswith("policies.nearest.elo-")
    assert len({elo, glicko2, alone}) == 3
    change(package, "policies/unrelated.txt")
    assert (variant("elo"), variant("glicko2")) == (leave(elo), glicko2)
    change(package, "ratings/scale.py")  # which elo imports, and it alone
    assert variant("elo") != elo
    assert variant("glicko2") == glicko2
    assert not elo.exists()  # the former state of this variant alone
    assert glicko2.exists()
    assert alone.exists()
    (package / "ratings/glicko2.py").rename(package / "ratings/glicko3.py")
    assert variant("glicko3").name.rpartition("-")[2] != glicko2.name.rpartition("-")[2]


def test_a_new_state_removes_the_former_ones_of_its_file(package: Path) -> None:
    other = leave(start(package, name="ratings/scale.py"))
    former = leave(start(package))
    assert start(package) == former
    leave(former)
    change(package)
    present = start(package)
    assert present.parent == Path(os.environ["XDG_CACHE_HOME"]) / "valmatch"
    assert set(present.parent.iterdir()) == {present, other}
    leave(present)
    assert start(package) == present
    assert (present / "elo.nbi").exists()
    change(package)
    assert start(package) != present
    assert present.exists()  # it may be in use


def test_a_place_that_cannot_be_written_is_no_error(package: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert start(package, file) == Path()  # no folder


def test_compilation_is_announced_once_and_left_out_of_times(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(folder: str | None) -> str:
        compiling = Compiling()
        start = compiling.clock()
        for _ in range(2):  # one for the other
            compiling.begin(folder)
        now = compiling.clock()
        assert now >= start
        assert compiling.clock() == now
        for _ in range(2):
            compiling.end()
        assert compiling.seconds > 0.0
        assert compiling.clock() - now < compiling.seconds + 60.0
        assert compiling.kernels == 2 * (folder is not None)
        return capsys.readouterr().err

    how = "compiling kernels once, which takes 10 to 60 seconds"
    assert said("/kept/one") == f"{how} (kept in /kept)\n"
    assert said(None) == (
        f"{how} (not kept: no folder of your own to write to; NUMBA_CACHE_DIR names one)\n"
    )
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object())
    assert said(None) == ""  # a worker process


ONE_KERNEL = """
import os, resource, sys
from pathlib import Path
from numba.core import event
from valmatch.kernels.compilation import kernel
from valmatch.kernels.first_run import compiling

compiling.announced = True

class Compiled(event.Listener):
    def on_start(self, event):
        print("compiled", flush=True)
        if sys.argv[1] == "dies":
            os.kill(os.getpid(), 9)

    def on_end(self, event):
        pass

event.register("numba:compile", Compiled())
if sys.argv[1] == "full":
    sys.dont_write_bytecode = True  # Python would take what fits for the whole
    resource.setrlimit(resource.RLIMIT_FSIZE, (99, 99))
if sys.argv[1] == "another owns all":
    os.geteuid = lambda: 12345

@kernel
def inner(value):
    return value + 1.0

@kernel
def outer(value):
    return 2.0 * inner(value)

print(outer(3.0), outer(3))
"""


def kernel_process(folder: Path, what: str) -> subprocess.Popen[str]:
    """Start a process that needs two kernels, each for floats and for integers."""
    source = folder / "one.py"
    if not source.exists():  # else a process that has just started would read an empty file
        source.write_text(ONE_KERNEL)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, str(source), what]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, text=True, umask=0, **pipes)


@pytest.mark.slow
def test_processes_that_start_together_compile_no_kernel_twice(tmp_path: Path) -> None:
    """Nor does one that is killed while it compiles hold the others up."""
    killed = kernel_process(tmp_path, "dies")
    assert killed.communicate(timeout=120)[0] == "compiled\n"
    assert killed.returncode == -9
    processes = [kernel_process(tmp_path, "lives") for _ in range(3)]
    printed = "".join(process.communicate(timeout=120)[0] for process in processes)
    assert printed.count("8.0 8.0") == 3
    assert printed.count("compiled") == 4
    assert list((tmp_path / "cache").rglob("*.lock"))


class Planted:
    """What makes a folder when it is read from a pickle."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def __reduce__(self) -> tuple[Any, ...]:
        return os.makedirs, (self.folder, 0o777, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "mode", "why"),
    [("lives", 0o720, "others can open "), ("another owns all", 0o700, "another user owns ")],
)
def test_folders_that_others_may_have_written_in_are_not_read(
    what: str, mode: int, why: str, tmp_path: Path
) -> None:
    assert kernel_process(tmp_path, "lives").communicate(timeout=120)[1] == ""
    cache = tmp_path / "cache"
    (folder,) = cache.iterdir()
    assert {path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())} == {0o700}
    for path in cache.rglob("*.nb?"):
        path.write_bytes(pickle.dumps(Planted(tmp_path / "run")))
    folder.chmod(mode)
    printed, warned = kernel_process(tmp_path, what).communicate(timeout=120)
    assert printed.count("compiled") == 4
    (line,) = warned.splitlines()
    assert line.startswith(
        f"warning: kernels in {folder} are not read, but compiled: {why}{folder}"
    )
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_cache_without_room_is_named_once_and_stops_nobody(tmp_path: Path) -> None:
    for _ in range(2):
        printed, warned = kernel_process(tmp_path, "full").communicate(timeout=120)
        assert printed.count("compiled") == 4
        assert printed.endswith("8.0 8.0\n")
        assert len(warned.splitlines()) == 1
        assert warned.startswith(f"warning: kernels cannot be kept in {tmp_path / 'cache'}")
        assert "File too large; every run compiles them again (NUMBA_CACHE_DIR names" in warned
    assert not list((tmp_path / "cache").rglob("*.nbc"))
    printed, warned = kernel_process(tmp_path, "lives").communicate(timeout=120)
    assert (printed.count("compiled"), warned) == (4, "")
