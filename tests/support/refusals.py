"""What calls refuse, and what of their results is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from valmatch.errors import InputError

T = TypeVar("T")


def refused(call: Callable[..., object], *arguments: Any, **options: Any) -> str:  # noqa: ANN401
    """Return what a call says is wrong with its input."""
    with pytest.raises(InputError) as error:
        call(*arguments, **options)
    return str(error.value)


def defined(value: T | None) -> T:
    """Return a value, which is not None."""
    assert value is not None
    return value
