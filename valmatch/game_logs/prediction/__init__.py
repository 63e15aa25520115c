"""Games that are still to be played: read, and predicted by ratings."""
