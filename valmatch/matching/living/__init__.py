"""The rules of living matchmakers, a file each, and the queue that they share."""
