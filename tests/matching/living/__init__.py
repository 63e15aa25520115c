"""The searches of living matchmakers: against their own answers, their twins, and theory."""
