"""Figures of what `optimize` wrote."""
