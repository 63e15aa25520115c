"""Simulate matchmaking systems, replicate them with honest statistics, optimise their rules.

From Python::

    import valmatch

    result = valmatch.replicate("valorant", 2000, workers=2)
    result                                 # a table of the estimated means
    result.estimates["avg_wait_time"].mean
    result["avg_wait_time"]                # one number a replication, a numpy array
    valmatch.plot(result).savefig("responses.png")

A config is given as the name of a shipped one, a path, what such a file would hold as a mapping, or
as `load_config` returns it. What a command wrote to a folder `load_result` gives back. What is not
exported here is private. Everything is imported when it is first used.
"""

from valmatch.kernels.lazy_exports import attach

_exported, __dir__ = attach(__name__, __file__)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("valmatch")
    return _exported(name)
