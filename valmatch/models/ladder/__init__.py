"""Queue, matches, ratings and players in one loop."""
