"""How pages are written: tables, Markdown, HTML and figures."""
