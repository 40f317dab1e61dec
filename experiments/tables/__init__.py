"""The paper's tables that are made from the records of a treebank: table1_2, table4, table5_6; treebank writes all of them.

summary has the results of all treebanks, systems what each system is, against_mh3 what MH4 gains over MH3.
"""
