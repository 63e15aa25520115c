"""Parts of figures: style, labels, bins, units, and runs as they are read."""
