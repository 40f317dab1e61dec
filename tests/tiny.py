"""Trees of a few words, as heads and as CoNLL-U, and the git blob id of a file's content."""

import hashlib

import numpy as np

WORD = "%d\tw%d\t_\t_\t_\t_\t%d\tdep\t_\t_\n"
PROJECTIVE, CROSSING, NEITHER = (-1, 2, 0, 2), (-1, 3, 0, 2), (-1, 4, 3, 0, 2, 1)  # the last is in no class


def int32(heads):
    return np.array(heads, dtype=np.int32)


def as_conllu(*trees):
    return "".join("".join(WORD % (m, m, tree[m]) for m in range(1, len(tree))) + "\n" for tree in trees)


def blob_id(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
