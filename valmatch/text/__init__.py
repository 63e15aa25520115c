"""Words and numbers: fit for a terminal, read, and suggested where they are misspelt."""
