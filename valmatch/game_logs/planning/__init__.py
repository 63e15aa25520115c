"""How many games a goal takes, by simulated leagues that are rated as they go on."""
