"""Tests of `valmatch.models.tickets`."""
