"""Ratings of all games of a log at once: Bradley-Terry, with draws, sides of several, and orders.

Sources: Bradley, Terry 1952 (two sides); Davidson 1970 (draws); Luce 1959, Plackett 1975 (orders);
Efron 1977 (ties in an order); Ford 1957 (when there is an estimate); Albert, Anderson 1984 (when a
coefficient has none).
"""
