"""Checks of what users give: arguments, typed fields, files, rows of CSV."""
