"""Policies that choose which alternative to measure next, to find one near a target."""
