"""What is simulated and how: YAML files, overrides, typed sections."""
