"""Rules of living matchmakers: one vocabulary, five presets, and cases with tickets."""
