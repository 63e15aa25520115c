"""Game logs read from CSV files, block by block."""
