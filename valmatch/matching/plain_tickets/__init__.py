"""The matchmaker of tickets in plain Python, one ticket and one rule at a time: it says why."""
