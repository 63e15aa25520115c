"""Tests of `valmatch.experiments`."""
