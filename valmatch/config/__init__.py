"""Configs: YAML files, overrides, typed sections."""
