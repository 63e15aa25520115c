"""Tests of `valmatch.ratings`."""
