"""Tests of `valmatch.models.valorant`."""
