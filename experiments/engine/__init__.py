"""Training runs and their records.

command, options, bench: what the studies share: their commands, what they are asked for, and where they work. run: one training run and
its output; treebank: its input; experiment: the runs for a treebank; grid: executes them, a few at a time, and progress displays them;
predictions: the trees of a finished model; records: the saved results, from which all tables are made, and record: what is in one;
ensembles: finished models combined, by the ways of voting; shared_task: the scores of the shared task's systems; workflow: runs as jobs
of Snakemake, each a call of single, and costs: what they take; provenance: where results come from.
"""
