"""Tests of `valmatch.policies`."""
