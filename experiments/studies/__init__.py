"""The studies: a module for each, with what it measures, its table, and its command, which has the name of the module.

What a module begins with is its usage, and what `make` says of it in the list of targets.
"""
