"""Linear algebra of small matrices on one thread.

On several the threads of a BLAS library wait for each other longer than they work, and turn idly
meanwhile: where others use the machine, that takes many times the work.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    """Return what holds the libraries that are loaded, whose search takes milliseconds."""
    import numpy.linalg  # noqa: F401 - so that its library is among them
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """Let the linear algebra of numpy take one thread in a block."""
    found: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return found
