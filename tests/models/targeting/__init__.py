"""Tests of `valmatch.models.opponent`."""
