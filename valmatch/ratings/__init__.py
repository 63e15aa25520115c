"""Rating systems as pure functions."""
