"""What tables show of each kind of result, on a terminal and in reports."""
