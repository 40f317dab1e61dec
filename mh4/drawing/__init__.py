"""Pictures of trees: layout and SVG."""
