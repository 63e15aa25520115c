"""The types of rules, a file each: what they read, check and say."""
