"""The files of a rating and the text in them."""
