"""What any program needs: files, downloads, streams, processes, progress, plots, tables in plain text."""
