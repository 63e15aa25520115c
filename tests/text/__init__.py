"""Tests of `valmatch.text`."""
