"""The declaration of the system that rates a whole log by Bradley-Terry."""

from __future__ import annotations

from valmatch.ratings.system import BatchSystem, Parameter

SYSTEM = BatchSystem("bradley_terry", (Parameter("mean", 1500.0, -1e6, 1e6),))
"""`mean` is that of all rated players, where no anchor says where the ratings are."""
