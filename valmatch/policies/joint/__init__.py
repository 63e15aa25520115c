"""Policies that choose the pairs to play next, by a belief about all players together."""
