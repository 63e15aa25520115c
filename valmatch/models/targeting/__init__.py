"""Targeting and selection: the alternative whose unknown value is nearest to a target."""
