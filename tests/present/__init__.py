"""Tests of `valmatch.present`."""
