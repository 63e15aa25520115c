"""Analysis after a study: the recommended point against the start, and prices of constraints."""
