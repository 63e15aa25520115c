"""Queues of presets over drawn tickets: what each does at its reviews, driven by one loop."""
