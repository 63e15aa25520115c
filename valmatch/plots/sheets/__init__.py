"""Tables of each kind of result, for a terminal and for reports."""
