"""Checks of the cells of CoNLL-U: word forms, and the values of the other columns.

https://universaldependencies.org/format.html
"""

import re
from collections.abc import Mapping

from mh4.errors import InputError, shown

COLUMNS = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC".split()
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
TAGS = UPOS, XPOS, FEATS

BYTE_ORDER_MARK = "\ufeff"
SURROGATE = re.compile("[\ud800-\udfff]")
SPACE = re.compile("[^\\S\t]|\ufeff")  # which only FORM, LEMMA and MISC may have
_UNWRITABLE = re.compile("[\0\t\n\r\ud800-\udfff]")  # NUL, the ends of columns and lines, and what UTF-8 cannot encode
# Characters that a word may not have: NUL and white space except spaces. Many programs end a word or a line there.
_WHITE_SPACE = {
    "\0": "a NUL",
    "\t": "a tab",
    "\n": "a line feed",
    "\v": "a vertical tab",
    "\f": "a form feed",
    "\r": "a carriage return",
    **dict.fromkeys("\x1c\x1d\x1e\x1f", "a separator"),
    "\x85": "a next line",
    "\u2028": "a line separator",
    "\u2029": "a paragraph separator",
    BYTE_ORDER_MARK: "a byte order mark",
}
WHITE_SPACE = re.compile("[%s]" % "".join(_WHITE_SPACE))


def check_word(form: str, where: str) -> None:
    """Raise InputError, which begins with `where`, for a word that is blank or has a character that it may not have."""
    if found := WHITE_SPACE.search(form):
        wrong = "%s in the word %s, which may have no white space but spaces" % (space_named(found[0]), shown(form))
        raise InputError("%s: %s" % (where, wrong))
    if SURROGATE.search(form):
        raise InputError("%s: half a surrogate pair in the word %s, which is no character" % (where, shown(form)))
    if not form.strip():
        raise InputError("%s: FORM is %s, expected a word" % (where, shown(form) if form else "empty"))


def check_columns(columns: Mapping[str, str], where: str) -> None:
    """Raise InputError, which begins with `where`, if a column is empty or has characters that it cannot have.

    columns: values by column name.
    """
    for name, cell in columns.items():
        if not cell.strip():
            wrong = "%s is %s, expected a value, or _ if there is none" % (name, shown(cell) if cell else "empty")
            raise InputError("%s: %s" % (where, wrong))
        if _UNWRITABLE.search(cell):
            raise InputError("%s: %s is %s, which no column can hold" % (where, name, shown(cell)))
        if name in COLUMNS[UPOS:MISC] and SPACE.search(cell):
            raise InputError("%s: %s is %s, which may have no white space" % (where, name, shown(cell)))


def space_named(character: str) -> str:
    """Return the name of a white space character, for messages."""
    return "%s (U+%04X)" % (_WHITE_SPACE[character], ord(character))
