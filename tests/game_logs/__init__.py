"""Tests of `valmatch.game_logs`."""
