"""Types of the ladder's factors, with their bounds."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from valmatch.inputs.fields import Real

# The bounds lie far outside any use; within them no kernel overflows.
Level = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False), *Real]
Spread = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False), *Real]
Points = Annotated[float, Field(ge=1e-6, le=1e6, allow_inf_nan=False), *Real]
Minutes = Annotated[float, Field(ge=1e-3, le=1e6, allow_inf_nan=False), *Real]
Pause = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False), *Real]
Rate = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False), *Real]
Weight = Annotated[float, Field(ge=0, le=1e3, allow_inf_nan=False), *Real]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), *Real]
Effect = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False), *Real]
