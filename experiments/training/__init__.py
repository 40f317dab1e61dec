"""What runs trainings, and what is kept of them.

run: one training and what it leaves; treebank: what it reads; experiment: the runs of a treebank; grid: runs them, a few at a
time, and progress shows it; predictions: the trees of a finished model; records: what is kept, which all tables are made from;
changes: the runs of ``experiments/ablations.py``.
"""
