"""Gold and parsed files with known scores, counted by hand, and random files of the same text in any segmentation."""

import os
from pathlib import Path

import pytest
from hypothesis import strategies as st

# a <- c crosses the root's arc to b and b -> d.
GOLD = [[("a", 3, "det"), ("b", 0, "root"), ("c", 2, "obj"), ("d", 2, "punct")], [("e", 0, "root"), ("f", 1, "punct:x")]]
# The head of a and the relation of c are wrong; no arcs cross.
A = [[("a", 2, "det"), ("b", 0, "root"), ("c", 2, "nmod:y"), ("d", 2, "punct")], [("e", 0, "root"), ("f", 1, "punct")]]
# Different sentences and words: only b is correct. "ef" is in the second sentence of gold and is not aligned.
B = [[("a", 2, "det"), ("b", 0, "root")], [("c", 0, "root"), ("d", 1, "punct"), ("ef", 1, "obj")]]


def as_conllu(sentences):
    """Return CoNLL-U. A token is a word (form, head, relation) or a multiword token (form, [word, ...])."""
    lines = []
    for sentence in sentences:
        number = 0
        for token in sentence:
            words = token[1] if isinstance(token[1], list) else [token]
            if isinstance(token[1], list):
                lines.append("%d-%d\t%s" % (number + 1, number + len(words), token[0]) + 8 * "\t_")
            for form, head, relation in words:
                number += 1
                lines.append("%d\t%s\t_\tX\t_\t_\t%d\t%s\t_\t_" % (number, form, head, relation))
        lines.append("")
    return "\n".join(lines) + "\n"


@st.composite
def segmentations(draw, text):
    """Draw a segmentation of the text into sentences of words and multiword tokens, each sentence with any tree."""
    sentences, tokens, start = [], [], 0
    while start < len(text):
        end = min(len(text), start + draw(st.integers(1, 3)))
        several = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=2, max_size=3)
        forms = draw(several) if draw(st.integers(0, 3)) == 0 else None
        space = draw(st.sampled_from([""] * 8 + [" ", "\u3000"]))  # within the token
        tokens.append((space.join(text[start:end]), forms))
        start = end
        if start == len(text) or draw(st.integers(0, 4)) == 0:
            sentences.append(draw(trees(tokens)))
            tokens = []
    return sentences


@st.composite
def trees(draw, tokens):
    n = sum(len(forms) if forms else 1 for _, forms in tokens)
    order = draw(st.permutations(range(1, n + 1)))
    heads = {word: order[draw(st.integers(0, k - 1))] if k else 0 for k, word in enumerate(order)}
    words = iter([(heads[m], draw(st.sampled_from(["root", "obj", "obj:x"]))) for m in range(1, n + 1)])
    return [(token, [(form, *next(words)) for form in forms]) if forms else (token, *next(words)) for token, forms in tokens]


@st.composite
def same_text(draw, systems=1):
    """Draw a gold file and parsed files of the same text, as CoNLL-U."""
    text = draw(st.text("ab", min_size=1, max_size=25))
    return [as_conllu(draw(segmentations(text))) for _ in range(1 + systems)]


def shared_task_files():
    """Return {gold: outputs} for test sets in the folder UD that have outputs of shared-task systems in CONLL17."""
    if not os.environ.get("UD") or not os.environ.get("CONLL17"):
        pytest.skip("UD and CONLL17 do not name folders with treebanks and with outputs of the shared task")
    files = {}
    for system in sorted(Path(os.environ["CONLL17"]).glob("*.conllu")):
        gold = Path(os.environ["UD"]) / ("%s-ud-test.conllu" % system.name.partition("-")[0])
        if gold.exists():
            files.setdefault(str(gold), []).append(str(system))
    if not files:
        pytest.skip("the folders UD and CONLL17 have no test set in common")
    return files
