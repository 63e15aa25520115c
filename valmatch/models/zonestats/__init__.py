"""A population of players that is rated by ZoneStats."""
