"""Training runs and their records.

run: one training run and its output; treebank: its input; experiment: the runs for a treebank; grid: executes them, a few at a
time, and progress displays them; predictions: the trees of a finished model; records: the saved results, from which all tables
are made, and fields: what is in one; calibrating: the probabilities of a finished model; ensembles: finished models combined, by
the ways of voting; shared_task: the scores of the shared task's systems; ablations: those of
``experiments/ablations.py``; workflow: runs as jobs of Snakemake, and costs: what they take.
"""
