"""Tests of `valmatch.statistics`."""
