"""Figures of a replication of the model `ladder`."""
