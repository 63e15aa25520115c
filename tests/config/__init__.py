"""Tests of `valmatch.config`."""
