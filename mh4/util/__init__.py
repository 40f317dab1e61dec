"""General utilities: files, downloads, streams, processes, progress, plots, text tables."""
