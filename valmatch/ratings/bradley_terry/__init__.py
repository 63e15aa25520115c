"""Ratings of all games of a log at once: Bradley-Terry, with draws, sides of several, and orders.

Sources: Bradley, Terry 1952; Davidson 1970; Luce 1959, Plackett 1975; Efron 1977; Ford 1957;
Albert, Anderson 1984.
"""
