"""Tests of `valmatch.models.zonestats`."""
