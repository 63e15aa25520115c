"""Execution of replications: workers, chunks, shards, interruptions."""
