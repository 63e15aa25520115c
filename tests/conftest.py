"""Kernels are compiled before the first test, so that no command announces it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from filelock import FileLock

from tests.support.sectioned_model import ENTRY
from valmatch.cli.options import flag
from valmatch.config.loading import load_config
from valmatch.errors import options_called
from valmatch.execution.chunks import build, run
from valmatch.models.registry import OWN

KERNELS = (
    ("ladder",),
    ("kg-fig1-top",),
    ("valorant", "matching=joint"),
    ("valorant",),
    ("zonestats",),
)
"""Configs with what they override; their replications need the kernels that most tests need."""


def pytest_sessionstart(session: pytest.Session) -> None:
    """Say at once why a first run shows no test for a minute."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal and not session.config.option.collectonly:
        terminal.write_line("Where kernels are not compiled yet, that comes first: about a minute.")


@pytest.fixture(scope="session", autouse=True)
def _compiled_kernels(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compile kernels, each in one of the test processes; the others find it in the cache."""
    process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    shared = tmp_path_factory.getbasetemp().parent
    for number in range(len(KERNELS)):
        config, *overrides = KERNELS[(number + process) % len(KERNELS)]
        with FileLock(shared / f"{'-'.join([config, *overrides])}.lock"):
            run(build(load_config(config, overrides)), 1, [0])


@pytest.fixture
def sectioned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register a model whose factors have sections, called ``sectioned``."""
    monkeypatch.setitem(OWN, "sectioned", ENTRY)


@pytest.fixture
def command_line_words() -> Iterator[None]:
    """Let messages call options as the command line does, for tests that ask the library itself."""
    with options_called(flag):
        yield
