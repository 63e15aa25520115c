"""Tests of `valmatch.inputs`."""
