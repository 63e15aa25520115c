"""Tests of valmatch."""
