"""The opponent-selection study of Ryzhov, Tariq and Powell."""
