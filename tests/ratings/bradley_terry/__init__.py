"""Tests of ratings of whole logs."""
