"""Where and how long replications run: workers, chunks, shards, interruptions."""
