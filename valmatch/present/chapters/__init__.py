"""Chapters of reports, a module for each kind of run."""
