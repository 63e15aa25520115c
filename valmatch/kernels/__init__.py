"""Compiled functions: their decorators, their cache, and plain Python in their place."""
