"""Tables on the terminal, a module for each kind of result."""
