"""Training runs and their records.

- What studies share: `command.py`, `options.py` (what they are asked for), and `workplace.py` (where they work).
- `run.py`: one training run and its output; `treebank.py`: its input; `predictions.py`: the trees of its model.
- `experiment.py`: the runs for a treebank; `local_runs.py` executes them, a few at a time, and `progress.py` displays them.
- `workflow.py`: runs as jobs of Snakemake, each a call of `single.py`; `costs.py`: what they take.
- `records.py`: the saved results, from which all tables are made, `record_fields.py`: what is in one, `provenance.py`: where it comes from.
- `ensembles.py`: finished models combined, in the ways of `ways_of_voting.py`; `shared_task.py`: the scores of the shared task's systems.
"""
