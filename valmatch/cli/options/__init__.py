"""Options that several commands have: their names, help texts and checks."""
