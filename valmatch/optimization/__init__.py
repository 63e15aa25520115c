"""Simulation optimisation of the rules of a model."""
