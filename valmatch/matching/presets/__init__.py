"""The searches of the rules of living matchmakers, compiled."""
