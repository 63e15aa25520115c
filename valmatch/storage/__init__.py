"""The folder of a run: its manifest, its files, what survives a kill."""
