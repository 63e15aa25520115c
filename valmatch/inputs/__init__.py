"""What users give, checked: arguments, typed fields, files, rows of CSV."""
