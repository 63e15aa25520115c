"""Solvers that ask for evaluations and are told their outcome."""
