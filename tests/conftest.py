"""Kernels are compiled before the first test, so that no command announces it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sectioned_model import ENTRY
from valmatch.cli.parameters import flag
from valmatch.config.loading import load
from valmatch.errors import options_called
from valmatch.models.registry import MODELS, OWN
from valmatch.simulator import build, run


@pytest.fixture(scope="session", autouse=True)
def _compiled_kernels() -> None:
    run(build(load("valorant", ["matching=joint"])), 1, [0])
    for model in MODELS:
        run(build(load(model if model != "opponent" else "kg-fig1-top")), 1, [0])


@pytest.fixture
def sectioned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register a model whose factors have sections, called ``sectioned``."""
    monkeypatch.setitem(OWN, "sectioned", ENTRY)


@pytest.fixture
def command_line_words() -> Iterator[None]:
    """Let messages call options as the command line does, for tests that ask the library itself."""
    with options_called(flag):
        yield
