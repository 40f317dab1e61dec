"""The studies: a module for each, with what it measures, its table, and its command, which has the name of the module.

The first line of a module is what `make` shows of it, where it needs a treebank that is not given and in the list of targets.
"""
