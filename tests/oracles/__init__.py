"""Slow, independent answers that the kernels are checked against."""
