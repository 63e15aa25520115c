"""Tests of `valmatch.policies.joint`."""
