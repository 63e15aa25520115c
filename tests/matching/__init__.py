"""Tests of `valmatch.matching`."""
