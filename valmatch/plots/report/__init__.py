"""Reports of finished runs: one page, or Markdown, that can be sent to somebody."""
