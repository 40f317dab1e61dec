"""Treebanks: CoNLL-U, where UD and the shared task are fetched from, the toy treebank, raw text."""
