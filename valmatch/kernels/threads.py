"""Linear algebra of small matrices on one thread.

Several wait for each other longer than they work, and give other last digits.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

SMALL = 1_000  # rows of a matrix up to which more threads bring next to nothing


@cache
def _controller(scipy: bool) -> ThreadpoolController:
    """Return what holds the libraries that are loaded, whose search takes milliseconds."""
    import numpy.linalg  # noqa: F401 - so that its library is among them
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread(size: int = 0) -> AbstractContextManager[object]:
    """Let linear algebra take one thread in a block, where matrices have up to `SMALL` rows."""
    if size > SMALL:
        return nullcontext()
    limit: AbstractContextManager[object] = _controller("scipy.linalg" in sys.modules).limit(
        limits=1, user_api="blas"
    )
    return limit
