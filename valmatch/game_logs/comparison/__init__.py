"""Comparison of rating systems, or of ratings, by how well they predict the games of a log."""
