"""Figures of the opponent-selection study."""
