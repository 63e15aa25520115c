"""Tests of `valmatch.simopt`."""
