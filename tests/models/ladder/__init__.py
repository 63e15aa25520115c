"""Tests of `valmatch.models.ladder`."""
