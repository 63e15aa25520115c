"""Tests of `valmatch.plots.report`."""
