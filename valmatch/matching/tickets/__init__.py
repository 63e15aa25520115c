"""Tickets: parties that wait for matches by a table of rules, see `valmatch.rule_sets.table`."""
