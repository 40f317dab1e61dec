"""Show trees in the terminal, and as an interactive page.

analyses.py collects the trees to show; terminal.py and page.py draw them (mh4.drawing draws pictures). Only a model
needs DyNet.
"""
