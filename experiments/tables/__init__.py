"""The tables: a module for each, those of the paper (table1_2, table3, table4, table5_6) and additional ones (search, ablations).

``shared_task`` has the columns of Tables 5 and 6 for the shared task's systems, for all languages; ``treebank_pages`` writes all
pages of a treebank. Each table makes its rows from ``training.records``, and ``writer`` outputs them as markdown, csv and on the
console. ``differences`` writes the effects that ablations measure into the documentation.
"""
