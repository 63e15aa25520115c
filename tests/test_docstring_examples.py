"""The examples in the docstrings of the public modules for researchers."""

from __future__ import annotations

import doctest
import inspect
from importlib import import_module

import pytest

PACKAGES = ["policies"]


def examples(package: str) -> list[tuple[str, str]]:
    """Return the names of a public module and of what it exports, with their docstrings."""
    module = import_module(f"valmatch.{package}")
    named = [(package, module), *((name, getattr(module, name)) for name in module.__all__)]
    return [(name, inspect.getdoc(value) or "") for name, value in named]


@pytest.mark.parametrize("package", PACKAGES)
def test_examples_give_what_they_show(package: str) -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    module = import_module(f"valmatch.{package}")
    exported = {name: getattr(module, name) for name in module.__all__}
    found = [
        parser.get_doctest(text, dict(exported), name, None, None)
        for name, text in examples(package)
    ]
    for example in found:
        runner.run(example)
    assert runner.failures == 0
    assert sum(bool(example.examples) for example in found) > len(found) // 2
