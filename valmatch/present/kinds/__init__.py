"""Kinds of results, a file each: its finding, its tables, its charts."""
