"""Which of several rating systems, or ratings, predicts the games of a log best."""
