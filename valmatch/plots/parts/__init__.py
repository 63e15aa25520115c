"""What figures are made of: style, labels, bins, units, and runs as they are read."""
