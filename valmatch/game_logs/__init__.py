"""Rating systems applied to real game logs."""
