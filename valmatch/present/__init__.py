"""Results shown: findings, tables and charts, once for terminal, pages, Markdown and figures."""
