"""The studies. The module of each study defines what it measures, its table, and a command with the name of the module.

The docstring of a module begins with its usage, and with what `make` prints about it in the list of targets.
"""
