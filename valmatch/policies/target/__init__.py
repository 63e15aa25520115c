"""Which of many alternatives of unknown value to measure next, to find one near a target."""
