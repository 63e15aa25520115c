"""Estimates from independent replications, pure functions over numbers and arrays."""
