"""The searches of the presets in plain Python, which say what the kernels of `presets` do."""
