"""Parameters of rating systems, and the systems that rate all games of a log at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from valmatch.errors import InputError, option
from valmatch.text.suggestions import hint


@dataclass(frozen=True)
class Parameter:
    """A number that a system depends on, and the factor of the model `ladder` for it."""

    name: str  # what the source calls it
    published: float  # its value there
    # low, high: least and greatest value that is allowed and searched
    low: float
    high: float
    # what the factor is, in a sentence; "" where there is none: the section `rating` has one for
    # all systems (mu and beta), or it is 0 in matches where nobody is at home and none is drawn
    meaning: str = ""
    unit: str = ""  # of the factor: ``points`` of ratings, ``minutes`` or ``hours`` of time
    # the factor's name where another system has the parameter's, or where that says too little
    factor: str = ""
    default: float | None = None  # of the factor, where newcomers have 1500 points, if another one

    def as_factor(
        self, meaning: str, unit: str = "", name: str = "", default: float | None = None
    ) -> "Parameter":
        """Return it with its factor."""
        return replace(self, meaning=meaning, unit=unit, factor=name, default=default)


class Parametric:
    """A system that depends on numbers."""

    name: str  # what ``--system`` and ``rating.system`` call it
    parameters: Sequence[Parameter]  # the numbers


@dataclass(frozen=True)
class BatchSystem(Parametric):
    """A system that rates all games of a log at once, so that nothing goes on from its ratings."""

    name: str  # what ``--system`` calls it
    parameters: Sequence[Parameter]  # numbers that it depends on
    paths: bool = False  # whether players have a rating for each day on which they played


# Of all rated players where there are no anchors, or of their first days.
_MEAN = Parameter("mean", 1500.0, -1e6, 1e6)
_DRIFT = Parameter("drift", 3.7, 0.0, 1e4)  # points a square-root day
_DEVIATION = Parameter("deviation", 350.0, 1.0, 1e5)  # of the first day of a player

BATCH_SYSTEMS = {
    "bradley_terry": BatchSystem("bradley_terry", (_MEAN,)),
    "whole_history": BatchSystem("whole_history", (_DRIFT, _DEVIATION, _MEAN), paths=True),
}


def check_tuned(system: Parametric, names: Sequence[str]) -> None:
    """Check the names of parameters that are to be fitted."""
    for name in names:
        _limits_of(system, "tune", name)


def values_of(
    system: Parametric, values: Mapping[str, float], before: Mapping[str, float]
) -> dict[str, float]:
    """Return the values of all parameters of a system."""
    for name, value in values.items():
        of = _limits_of(system, "parameters", name)
        if not of.low <= value <= of.high:
            allowed = f"{of.low!r} to {of.high!r}"
            what = f"out of range (allowed: {allowed})"
            raise InputError(f"{option('parameters')} {name}={value!r}: {what}")
    return {
        of.name: values.get(of.name, before.get(of.name, of.published)) for of in system.parameters
    }


def _limits_of(system: Parametric, argument: str, name: str) -> Parameter:
    """Return the parameter of a name."""
    known = {parameter.name: parameter for parameter in system.parameters}
    if name not in known:
        what = f"{system.name} has no such parameter ({hint(name, known)})"
        raise InputError(f"{option(argument)} {name}: {what}")
    return known[name]
