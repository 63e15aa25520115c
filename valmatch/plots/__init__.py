"""Figures of finished runs; needs the extra `plot`."""
