"""Tests of `valmatch.kernels`."""
