"""Opponent-selection policies as pure functions of the knowledge state."""
