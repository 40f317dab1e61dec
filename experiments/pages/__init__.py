"""Writing of pages: tables, Markdown, HTML and figures."""
