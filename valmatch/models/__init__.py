"""The simulated systems."""
