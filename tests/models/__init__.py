"""Tests of `valmatch.models`."""
