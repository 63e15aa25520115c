"""Tests of `valmatch.draws`."""
