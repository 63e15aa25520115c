"""The vocabulary of rules of living matchmakers, and cases."""
