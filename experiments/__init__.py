"""The paper's experiments and further ones. ``python -m experiments NAME``, or ``make NAME``, runs one of them.

studies: the measurements, one module per command. tables: tables made from records. pages: Markdown pages. engine:
training runs and their records. published: the paper's numbers. Imports only run in this order.
"""
