"""Parties with latencies and wishes, matched by the rule set that a game deploys."""
