"""What the commands print on the terminal, a module for each kind of result."""
