"""Tests on fresh replications that certify what a search has found."""
