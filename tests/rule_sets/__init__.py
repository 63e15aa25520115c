"""Tests of rule sets: their text, their faults, their table."""
