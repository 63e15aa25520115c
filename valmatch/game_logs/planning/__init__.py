"""The number of games that a goal takes, by simulated leagues that are rated as they go on."""
