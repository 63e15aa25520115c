"""The team-matchmaking model of the Valorant source."""
