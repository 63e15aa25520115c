"""Tests of `valmatch.execution`."""
