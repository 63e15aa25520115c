"""Rating of a whole log at once, with intervals."""
