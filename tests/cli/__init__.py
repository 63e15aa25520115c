"""Tests of `valmatch.cli`."""
