"""Experiments with a model: record, replicate, compare, sweep, combine."""
