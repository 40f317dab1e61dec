"""Showing trees: in the terminal, and as an interactive page.

analyses.py collects what there is to show; terminal.py and page.py draw it, as mh4.drawing draws pictures. Only a model needs DyNet.
"""
