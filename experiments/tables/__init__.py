"""The paper's tables that are made from the records of a treebank, all of which `treebank` writes, and those of all treebanks."""
