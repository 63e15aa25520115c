"""whole_log."""
