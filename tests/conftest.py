"""What all tests have in common."""

from __future__ import annotations

import os
from collections.abc import Iterator

import hypothesis
import numba  # noqa: F401 - where it is imported, no command interprets kernels
import pytest

from tests.support.sectioned_model import ENTRY
from valmatch.cli.options import flag
from valmatch.errors import options_called
from valmatch.experiments.replicate import replicate
from valmatch.kernels.first_run import compiling
from valmatch.models.registry import OWN

# No test fails because a machine is busy.
hypothesis.settings.register_profile(
    "tests",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
hypothesis.settings.load_profile("tests")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Say at once why a first run shows few tests for some minutes."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal and not session.config.option.collectonly:
        terminal.write_line("Tests compile the kernels that they need, the first time.")


@pytest.fixture(scope="session", autouse=True)
def _no_announcement() -> None:
    """Let no command say that it compiles, whichever test needs a kernel first."""
    compiling.announced = True


@pytest.fixture(scope="session")
def compiled() -> None:
    """Compile what commands in processes of their own need, which would say so."""
    replicate("valorant", 10)
    replicate("valorant", 1, control_variates=True)


@pytest.fixture
def sectioned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register a model whose factors have sections, called ``sectioned``."""
    monkeypatch.setitem(OWN, "sectioned", ENTRY)


@pytest.fixture
def command_line_words() -> Iterator[None]:
    """Let messages call options as the command line does, for tests that ask the library itself."""
    with options_called(flag):
        yield
