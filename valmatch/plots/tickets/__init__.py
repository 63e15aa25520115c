"""Figures of the model `tickets`."""
