"""Simulate matchmaking systems, replicate them with honest statistics, optimise their rules."""
