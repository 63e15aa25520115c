"""Tests of `valmatch.ratings.whole_history`."""
