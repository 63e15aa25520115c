"""Figures of the model `valorant`."""
