"""The experiments: the paper's, and those beyond it. ``python -m experiments NAME``, or ``make NAME``, runs one.

studies: the measurements, a module for each command; tables: the paper's tables, made from a treebank's records; pages: how
pages are written; engine: runs and their records; published: the paper's numbers. Imports run in this order.
"""
