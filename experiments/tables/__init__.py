"""The paper's tables that are made from the records of a treebank: table1_2, table4, table5_6; treebank writes all of them.

summary has the results of all treebanks, and systems what each system is.
"""
