"""Exact searches for teams and matches."""
