"""The paper's tables made from the records of a treebank, all of which `treebank` writes, and from the records of all treebanks."""
