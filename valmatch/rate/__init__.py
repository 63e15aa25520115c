"""Rating systems applied to real game logs."""

from valmatch.rate.columns import parse_columns
from valmatch.rate.rating import BURN_IN, SYSTEMS, Rated, parse_parameters, rate

__all__ = ["BURN_IN", "SYSTEMS", "Rated", "parse_columns", "parse_parameters", "rate"]
