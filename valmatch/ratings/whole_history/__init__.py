"""Ratings that move in time, all at once: one for each player and day on which they played.

Sources: Coulom 2008, Whole-History Rating; Irons 1970 (elimination by fronts).
"""
