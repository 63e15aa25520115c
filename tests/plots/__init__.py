"""Tests of `valmatch.plots`."""
