"""Trees as pictures: where words and arcs go, and SVG."""
