"""Random inputs, known truths, and ways to run commands that several tests share."""
