"""The model `ladder`: queue, matches, ratings and players in one loop."""
