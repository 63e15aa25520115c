"""Numba's cache of compiled kernels: its folders, and loading from it without numba's compiler.

The kernels of a file are kept in a folder named by all that they are made from; one process
compiles each of them, and others wait for it.
"""

import gc
import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from multiprocessing import parent_process
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from valmatch.kernels.plugins import COMPILED_IN
from valmatch.text.terminal import one_line

UNUSED = 14 * 86_400.0  # seconds without a start after which kernels of a former state are removed
PACKAGE = Path(__file__).parents[1]
OF_WHEEL = PACKAGE / "kernels/compiled"  # folders of kernels for any processor, if there are any

# An import of something of the package: its module, and the names that are taken from it.
IMPORT = re.compile(rb"^[ \t]*(?:from|import) valmatch\.?([\w.]*)(?: import (\([^)]*\)|.*))?", re.M)
BY_NAME = re.compile(rb"\bimport_module\(")  # which may import any module of the folder
# The file that says how kernels are compiled; what it imports changes none.
DECORATORS = "kernels/compilation.py"
# What numba's method to load calls, in whose place another stands.
REPLACED = ("refresh", "_guard_against_spurious_io_errors", "_load_overload")

OWNER_ALONE = 0o700  # loading a kernel runs what its files say
NOT_READ = "kernels in {} are not read, but compiled: {}"
NOT_KEPT = "kernels cannot be kept in {}: {}; every run compiles them again"
_warned: set[tuple[str, Path]] = set()  # which of these has been said of which folder


def keep(kernel: Any, cache_dir: str, variant: str = "", parts: tuple[Path, ...] = ()) -> None:  # noqa: ANN401
    """Keep a kernel in the folder that is given, or the user's; one process compiles it."""
    source = Path(kernel.py_func.__code__.co_filename)
    if folder := cache_folder(source, cache_dir, variant, parts):
        # A numba that keeps kernels in another way is left to do so.
        with suppress(ImportError, AttributeError):
            kernel._cache = _cache_class()(folder, kernel.py_func)
            kernel.compile = partial(_compile, kernel.compile, kernel._cache.lock)


@cache
def cache_folder(source: Path, cache_dir: str, variant: str, parts: tuple[Path, ...]) -> str:
    """Return the folder for the kernels of a file and parts, "" where none is for oneself alone."""
    name = ".".join((*_inside(source).with_suffix("").parts, *filter(None, [variant])))
    try:
        import numba

        texts = [_contents(path)[0] for path in sorted(files_of(source, *parts))]
        state = "\n".join([*texts, str(sys.implementation.cache_tag), numba.__version__])
        all_kernels = folder_of_all(cache_dir)
        folder = all_kernels / f"{name}-{_digest(state.encode())[:12]}"
        all_kernels.mkdir(OWNER_ALONE, parents=True, exist_ok=True)
        # Those of former states are removed when a new one is made.
        for other in all_kernels.glob(f"{name}-*") if not folder.exists() else ():
            with suppress(OSError):  # another process may be removing it
                if other.stat().st_mtime < time.time() - UNUSED:  # none may be writing into it
                    shutil.rmtree(other, ignore_errors=True)
        folder.mkdir(OWNER_ALONE, exist_ok=True)
        for path in (all_kernels, folder):
            if why := _open_to_others(path):
                _warn(NOT_READ, all_kernels, why)
                return ""
        os.utime(folder)
    except (OSError, RuntimeError):  # nowhere to write, or no home
        return ""
    return str(folder)


def folder_of_all(cache_dir: str) -> Path:
    """Return the folder for kernels: in one that is given, or in the user's for caches."""
    home = cache_dir or os.environ.get("XDG_CACHE_HOME")
    if not home and sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    caches = "Library/Caches" if sys.platform == "darwin" else ".cache"
    return (Path(home) if home else Path.home() / caches) / "valmatch"


def _open_to_others(folder: Path) -> str:
    """Return why somebody else may have written in a folder, "" if nobody can have."""
    if not hasattr(os, "geteuid"):
        return ""  # where there are no such users
    state = folder.stat()
    if state.st_uid != os.geteuid():
        return f"another user owns {folder}"
    return f"others can open {folder} (chmod 700 closes it)" if state.st_mode & 0o077 else ""


def _inside(path: Path) -> Path:
    """Return the path of a file in the package; of one outside its name alone."""
    return path.relative_to(PACKAGE) if path.is_relative_to(PACKAGE) else Path(path.name)


def files_of(*sources: Path) -> set[Path]:
    """Return the files of the package that the kernels of some files are compiled from."""
    files, left = {PACKAGE / DECORATORS}, list(sources)
    while left:
        path = left.pop()
        if path not in files:
            files.add(path)
            left += [*_contents(path)[1], *COMPILED_IN.get(path, ())]
    return files


@cache
def _contents(path: Path) -> tuple[str, set[Path]]:
    """Return a digest of a file with its data and its place, and the files that it imports."""
    text, data = path.read_bytes(), path.with_suffix(".npy")
    modules, imported = _modules(), set[Path]()
    for module, names in IMPORT.findall(text):
        taken = [module, *(b"%s.%s" % (module, name) for name in re.findall(rb"\w+", names))]
        imported |= {modules[name] for name in taken if name in modules}
    beside = path.with_name("__init__.py")  # of another package, with parts of its own
    if BY_NAME.search(text) or (not path.is_relative_to(PACKAGE) and beside.exists()):
        imported |= set(path.parent.glob("*.py"))
    # Kernels know the modules of what they call by name: those of a file that was moved are others.
    content = text + (data.read_bytes() if data.exists() else b"")
    return _digest(b"%s\0%s" % (str(_inside(path)).encode(), content)), imported


@cache
def _modules() -> dict[bytes, Path]:
    """Return the files of the package by their modules' names without the package's."""
    modules = {}
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(_inside(path).with_suffix("").parts)
        modules[name.removesuffix(".__init__").encode()] = path
    return modules


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


@cache
def _cache_class() -> Any:  # noqa: ANN401 - numba has no types
    """Return the class of caches in a folder that says by its name what is in it."""
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
    from numba.core.runtime.nrt import rtsys

    # Numba's own cache looks at the file of a kernel alone, not at those of what it calls, and
    # imports all that it can compile, and scipy's linear algebra, before it looks. A kernel of the
    # cache needs numba's runtime alone; for one that is not there, the compiler registers all.
    class Cache(FunctionCache):
        def __init__(self, folder: str, function: Callable[..., object]) -> None:
            # Where numba keeps a function, whatever the place and the time of its file.
            location: Any = SimpleNamespace(
                from_function=lambda *_: location,
                get_cache_path=lambda: folder,
                ensure_cache_path=partial(os.makedirs, folder, exist_ok=True),
                get_source_stamp=str,
                get_disambiguator=lambda: str(function.__code__.co_firstlineno),
            )
            files: Any = type("Files", (CompileResultCacheImpl,), {"_locator_classes": [location]})
            self._impl_class = files
            super().__init__(function)  # type: ignore[no-untyped-call]
            self.lock = ExitStack()  # held by whoever compiles
            self._index = Path(self._cache_file._index_path)
            of_wheel: Any = IndexDataCacheFile
            folder_of_wheel = str(OF_WHEEL / self._index.parent.name)
            self._of_wheel = of_wheel(folder_of_wheel, self._impl.filename_base, "")

        def load_overload(self, signature: Any, context: Any) -> Any:  # noqa: ANN401
            """Load a kernel, if the cache has it, or another process is making it."""
            rtsys.initialize(context)
            with self._guard_against_spurious_io_errors():
                kept = self._load_overload(signature, context)  # type: ignore[no-untyped-call]
                if kept is None:
                    kept = self._load_of_wheel(signature, context)
                if kept is None:
                    self.lock.enter_context(_locked(self._index.with_suffix(".lock")))
                    kept = self._load_overload(signature, context)  # type: ignore[no-untyped-call]
                return kept

        def _load_of_wheel(self, signature: Any, context: Any) -> Any:  # noqa: ANN401
            """Load a kernel that the wheel brought for any processor, if it did."""
            key = self._index_key(signature, context.codegen())  # type: ignore[no-untyped-call]
            signature, (platform, *_), code = key
            kernel = self._of_wheel.load((signature, (platform, "generic", ""), code))
            return kernel and self._impl.rebuild(context, kernel)

        def save_overload(self, signature: Any, compiled: Any) -> None:  # noqa: ANN401
            """Keep a kernel; without room for it, say so and go on with what is in memory."""
            try:
                super().save_overload(signature, compiled)  # type: ignore[no-untyped-call]
            except OSError as error:
                _warn(NOT_KEPT, self._index.parents[1], error.strerror or str(error))

    if FunctionCache.load_overload.__code__.co_names != REPLACED:
        del Cache.load_overload
    return Cache


def _warn(text: str, folder: Path, why: str) -> None:
    """Say once on stderr what is wrong with a folder of kernels, and not by worker processes."""
    if parent_process() is None and (text, folder) not in _warned:
        _warned.add((text, folder))
        text = f"warning: {text.format(folder, why)} (NUMBA_CACHE_DIR names another folder)"
        print(one_line(text), file=sys.stderr)


def _compile(compile_kernel: Callable[[Any], Any], lock: ExitStack, signature: Any) -> Any:  # noqa: ANN401
    """Load or compile a kernel and keep it, and let go of its lock."""
    from numba.core.compiler_lock import global_compiler_lock

    with global_compiler_lock, lock:
        collects = gc.isenabled()  # compiling makes many objects, of which it keeps most
        gc.disable()
        try:
            return compile_kernel(signature)
        finally:
            if collects:
                gc.enable()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, where files can be locked."""
    with ExitStack() as opened:
        with suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(opened.enter_context(path.open("a")), fcntl.LOCK_EX)
        yield
