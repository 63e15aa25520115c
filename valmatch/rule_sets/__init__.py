"""Rule sets of matchmakers: read with places, checked, and as a table that knows no language.

Nothing here imports numba or numpy: a check is done before they would be loaded.
"""
