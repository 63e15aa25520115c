"""Tests of `valmatch.storage`."""
