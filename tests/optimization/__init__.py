"""Tests of `valmatch.optimization`."""
