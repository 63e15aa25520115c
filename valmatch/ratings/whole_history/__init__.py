"""Ratings that move in time, all at once: one for each player and day on which they played.

Sources: Coulom 2008, Whole-History Rating (Wiener paths, Newton's method); Irons 1970 (elimination
by fronts); Laplace's approximation of the evidence of a drift. How games follow from ratings is
that of `valmatch.ratings.bradley_terry`.
"""
