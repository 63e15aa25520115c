"""What each kind of result shows, a file each: its finding, its tables, its charts."""
