"""The choice of pairs to play next, from the folder of a rating."""
