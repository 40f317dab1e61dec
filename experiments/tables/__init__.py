"""What is shown: a module for each table, of the paper (table1_2, table3, table4) and of our own (search, ablations).

Each makes its rows from what ``training.records`` has, and ``writer`` writes them: markdown, csv, console.
"""
