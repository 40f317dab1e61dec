"""What is shown: a module for each table, of the paper (table1_2, table3, table4, table5_6) and of our own (search, ablations).

``shared_task`` has the columns of Tables 5 and 6 that are of the shared task's systems, for all languages; ``treebank_pages`` writes
all pages of a treebank. Each table makes its rows from what ``training.records`` has, and ``writer`` writes them: markdown, csv, console.
"""
