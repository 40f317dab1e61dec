"""Showing trees: in the terminal, as a picture, and as an interactive page.

analyses.py collects what there is to show, layout.py places words and arcs; terminal.py, svg.py and page.py draw. None of them
needs DyNet.
"""
