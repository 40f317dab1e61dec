"""Make several hundred files, the same every time: almost CoNLL-U, or CoNLL-U that looks odd.

Each file is made from two sentences of a small artificial language, by changing one thing.
"""

import gzip
import random
from collections.abc import Iterator
from dataclasses import dataclass

SEED = 20180715
MUTATIONS = 120


@dataclass(frozen=True)
class Case:
    """A file.

    readable: whether it is CoNLL-U for commands that ignore trees, such as `mh4 parse`. tree: whether it is CoNLL-U for
    commands that need trees, such as `mh4 coverage`. None if this is unknown, as for random changes.
    """

    name: str
    content: bytes
    readable: bool | None = None
    tree: bool | None = None


def word(number, form="w", head="0", deprel="dep", upos="X", deps="_", misc="_", xpos="_", feats="_"):
    return "\t".join([str(number), form, form, upos, xpos, feats, str(head), deprel, deps, misc])


# Every table of a vocabulary has more than one entry, so that none is the same in another order.
FIRST = [
    "# sent_id = one",
    "1-2\tvamos\t_\t_\t_\t_\t_\t_\t_\t_",
    word(1, "va", 0, "root", "VERB", xpos="V", feats="Person=1"),
    word(2, "mos", 1),
    word(3, "al", 2),
]
SECOND = [
    "# sent_id = two",
    word(1, "fin", 0, "root"),
    word(2, "de", 1),
    "2.1\tla\t_\t_\t_\t_\t_\t_\t1:dep\t_",
    word(3, "mar", 1),
]
GOOD = "\n".join([*FIRST, "", *SECOND, "", ""])


def text(*lines, end="\n"):
    return (end.join(lines) + end + end).encode("utf-8", "surrogatepass")


def chain(n, upwards):
    """Return a tree in which every word is the head of the word before or, if not `upwards`, of the word after."""
    heads = [*range(2, n + 1), 0] if upwards else range(n)
    return text(*(word(m, "w", h) for m, h in enumerate(heads, start=1)))


def sentence_of(n, **columns):
    """Return a flat tree over n words."""
    return text(*(word(m, head=int(m > 1), **columns) for m in range(1, n + 1)))


BAD_IDS = [
    "", " ", "-1", "0", "00", "01", "+1", "1 ", " 1", "1.", ".1", "-", "--", ".", "..", "1-", "-2", "..1--", "1-2-3", "1--2", "2-1",
    "1.1.1", "1.0", "0.0", "1.01", "01.1", "1-02", "01-2", "1,2", "1:2", "1/2", "1e0", "0x1", "1_0", "NaN", "inf", "one", "a", "_",
    "*", "１", "①", "²", "٣", "½", "1\x00", "\x00", "1\u200b", "\u00a01",
    "\ufeff1", "9" * 5000, "1" * 5000 + "-2", "1-" + "9" * 5000, "1." + "1" * 5000,
    "-" * 5000, "." * 5000, "1-2.1", "1.1-2", "0-1", "0-0", "-1-2", "1--1", "99", "99-100", "99.1",
]  # fmt: skip

BAD_HEADS = [
    "", " ", "_", "-1", "-0", "4", "99", "1.5", "1.", "+1", " 1", "1 ", "1|2", "1,2", "1-2", "--", "0x1", "1e3", "1_0", "NaN", "inf",
    "None", "root", "*", "１", "²", "٣", "½", "\x00", "1\x00", "9" * 5000, "0" * 5000 + "9",
    "2147483648", "4294967297", "18446744073709551617",
]  # fmt: skip

# By name: sentences that differ from CoNLL-U in their ranges and empty nodes.
BAD_NODES = {
    "range beyond the end": [word(1), word(2, head=1), "3-4\tx" + "\t_" * 8, word(3, head=1)],
    "range after the last word": [word(1), "2-3\tx" + "\t_" * 8],
    "range after its first word": [word(1), "1-2\tx" + "\t_" * 8, word(2, head=1)],
    "range too early": ["2-3\tx" + "\t_" * 8, word(1), word(2, head=1), word(3, head=1)],
    "range twice": ["1-2\tx" + "\t_" * 8] * 2 + [word(1), word(2, head=1)],
    "overlapping ranges": ["1-2\tx" + "\t_" * 8, word(1), "2-3\ty" + "\t_" * 8, word(2, head=1), word(3, head=1)],
    "nested ranges": ["1-3\tx" + "\t_" * 8, word(1), "2-3\ty" + "\t_" * 8, word(2, head=1), word(3, head=1)],
    "ranges with one start": ["1-2\tx" + "\t_" * 8, "1-3\ty" + "\t_" * 8, word(1), word(2, head=1), word(3, head=1)],
    "range of a million words": ["1-1000000\tx" + "\t_" * 8, word(1), word(2, head=1)],
    "only a range": ["1-2\tx" + "\t_" * 8],
    "only an empty node": ["0.1\tx" + "\t_" * 8],
    "empty node too early": ["1.1\tx" + "\t_" * 8, word(1)],
    "empty node too late": [word(1), word(2, head=1), "1.1\tx" + "\t_" * 8],
    "empty nodes out of order": [word(1), "1.2\tx" + "\t_" * 8, "1.1\tx" + "\t_" * 8],
    "empty node twice": [word(1), "1.1\tx" + "\t_" * 8, "1.1\tx" + "\t_" * 8],
    "empty node without 1.1": [word(1), "1.2\tx" + "\t_" * 8],
    "word twice": [word(1), word(1)],
    "word omitted": [word(1), word(3, head=1)],
    "words in reverse": [word(2, head=1), word(1)],
    "first word is 0": [word(0), word(1)],
    "word -1 and word 1": [word("-1", "lost"), word(1, "kept")],
}

GOOD_NODES = {
    "range of one word": ["1-1\tx" + "\t_" * 8, word(1)],
    "range of all words": ["1-3\tx" + "\t_" * 8, word(1), word(2, head=1), word(3, head=1)],
    "adjacent ranges": [
        "1-2\tx" + "\t_" * 8, word(1), word(2, head=1), "3-4\tx" + "\t_" * 8, word(3, head=1), word(4, head=1)
    ],
    "empty node first": ["0.1\tx" + "\t_" * 8, word(1)],
    "empty nodes in a range": ["1-2\tx" + "\t_" * 8, word(1), "1.1\te" + "\t_" * 8, "1.2\te" + "\t_" * 8, word(2, head=1)],
    "empty node between a range and its word": ["1-2\tx" + "\t_" * 8, "0.1\te" + "\t_" * 8, word(1), word(2, head=1)],
}  # fmt: skip

BAD_TREES = {
    "cycle of two": (2, 1),
    "cycle of three beside a root": (0, 3, 4, 2),
    "cycle of all": (2, 3, 4, 5, 1),
    "own head": (0, 2),
    "long cycle": (*range(2, 401), 1),
    "no root": (2, 3, 1),
}


def cases() -> Iterator[Case]:
    yield Case("good", GOOD.encode(), True, True)
    yield from _ids()
    yield from _heads()
    yield from _columns()
    yield from _bytes()
    yield from _structure()
    yield from _fields()
    yield from _mutations()


def _ids():
    for k, bad in enumerate(BAD_IDS):
        for place in (1, 2, 3):
            lines = [word(m, head=int(m > 1)) for m in (1, 2, 3)]
            if bad == "\ufeff1" and place == 1:  # a byte order mark
                continue
            lines[place - 1] = "\t".join([bad, *lines[place - 1].split("\t")[1:]])
            yield Case("ID %d for word %d" % (k, place), text(*lines), False, False)
        yield Case("ID %d before all" % k, text(word(bad), word(1)), False, False)
    for name, lines in BAD_NODES.items():
        yield Case(name, text(*lines), False, False)
    for name, lines in GOOD_NODES.items():
        yield Case(name, text(*lines), True, True)


def _heads():
    for k, bad in enumerate(BAD_HEADS):
        yield Case("HEAD %d" % k, text(word(1), word(2, head=bad), word(3, head=1)), bool(bad.strip()) and "\0" not in bad, False)
    for name, heads in BAD_TREES.items():
        yield Case(name, text(*(word(m, head=h) for m, h in enumerate(heads, start=1))), True, False)
    yield Case("zeros before HEAD", text(word(1, head="000"), word(2, head="0001")), True, True)
    yield Case("all words are roots", text(*(word(m) for m in range(1, 9))), True, True)
    yield Case("last word is the root", text(word(1, head=2), word(2)), True, True)


def _columns():
    for columns in (*range(1, 10), 11, 12, 50):
        row = "\t".join(["1", *["x"] * (columns - 1)])
        yield Case("%d columns" % columns, text(row), False, False)
        yield Case("%d columns in the second sentence" % columns, text(word(1), "", row), False, False)
    yield Case("spaces for tabs", text(word(1).replace("\t", " ")), False, False)
    yield Case("tabs doubled", text(word(1).replace("\t", "\t\t")), False, False)
    yield Case("tab first", text("\t" + word(1)), False, False)
    yield Case("tab last", text(word(1) + "\t"), False, False)
    yield Case("a line of tabs", text(word(1), "\t" * 9, word(2, head=1)), False, False)
    yield Case("only tabs", text("\t" * 9), False, False)
    yield Case("no FORM", text(word(1, form="")), False, False)
    yield Case("nothing but IDs", text("1" + "\t" * 9), False, False)


def _bytes():
    good = GOOD.encode()
    mark = b"\xef\xbb\xbf"
    for name, bad in {
        "latin-1": "1\tcafé".encode("latin-1"),
        "truncated UTF-8": b"1\tcaf\xc3",
        "a stray continuation byte": b"1\t\x80",
        "overlong": b"1\t\xc0\xaf",
        "surrogates": b"1\t\xed\xa0\x80",
        "above U+10FFFF": b"1\t\xf4\x90\x80\x80",
        "0xff": b"\xff\xff",
    }.items():
        yield Case(name, bad + b"\t_" * 8 + b"\n\n", False, False)
        yield Case(name + ", in the last sentence", good + bad + b"\t_" * 8 + b"\n\n", False, False)
        yield Case(name + ", in a comment", b"# " + bad + b"\n" + good, False, False)
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "cp037"):
        refused = None if encoding == "utf-7" else False  # UTF-7 is ASCII
        yield Case(encoding, GOOD.encode(encoding), refused, refused)
    yield Case("gzip", gzip.compress(good, mtime=0), False, False)
    yield Case("PNG", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, False, False)
    yield Case("zeros", bytes(4096), False, False)
    yield Case("empty", b"", None, False)
    for k, blank in enumerate(
        (b"\n", b"\r\n", b"\n" * 5000, b"   \n \n", b"\r", mark, mark + b"\n", mark + b"\r\n\r\n", mark + mark)
    ):
        yield Case("blank %d" % k, blank, None, False)
    for name, content in {
        "byte order mark": mark + good,
        "byte order mark and blank lines": mark + b"\n\n" + good,
        "byte order mark before a word": mark + text(word(1)),
        "CRLF": good.replace(b"\n", b"\r\n"),
        "byte order mark and CRLF": mark + good.replace(b"\n", b"\r\n"),
        "mixed line ends": good.replace(b"\n", b"\r\n", 4),
        "no line end at the end": good.rstrip(b"\n"),
        "no blank line at the end": good[:-1],
        "blank lines at the start": b"\n\n\n" + good,
        "blank lines at the end": good + b"\n\n\n\n",
        "many blank lines between": good.replace(b"\n\n", b"\n\n\n\n", 1),
        "spaces in blank lines": good.replace(b"\n\n", b"\n  \n", 1),
    }.items():
        yield Case(name, content, True, True)
    yield Case("CRCRLF", good.replace(b"\n", b"\r\r\n"), False, False)
    yield Case("two byte order marks", mark + mark + good, False, False)
    yield Case("byte order mark in the second sentence", good.replace(b"\n\n", b"\n\n" + mark, 1), True, True)
    yield Case("byte order mark within a sentence", good.replace(b"\n", b"\n" + mark, 1), False, False)
    yield Case("only CR", good.replace(b"\n", b"\r"), False, False)
    for k in (*range(0, 9), 11, 12, *range(14, 32), 127, 0x85, 0xA0, 0x2028, 0x2029, 0x200B, 0x202E, 0x3000, 0xFEFF, 0x10FFFF):
        white = k in (0, 11, 12, 28, 29, 30, 31, 0x85, 0x2028, 0x2029, 0xFEFF)
        yield Case("U+%04X in a FORM" % k, text(word(1, form="a%sb" % chr(k))), not white, not white)
        white = white or k in (0xA0, 0x3000)
        yield Case("U+%04X for a FORM" % k, text(word(1, form=chr(k))), not white, not white)
    yield Case("U+0085 for line ends", GOOD.replace("\n", "\x85").encode(), False, False)
    yield Case("U+2028 for line ends", GOOD.replace("\n", "\u2028").encode(), False, False)
    yield Case("a million characters on a line", b"x" * 1_000_000, False, False)


def _structure():
    yield Case("only comments", text("# a", "# b"), False, False)
    yield Case("a comment after the last sentence", GOOD.encode() + b"# end\n", False, False)
    yield Case("a comment between words", text(word(1), "# between", word(2, head=1)), True, True)
    yield Case("a comment after the words", text(word(1), "# after"), True, True)
    yield Case("no blank line between sentences", text(*FIRST, *SECOND), False, False)
    yield Case("ten thousand comments", text(*["# c"] * 10_000, word(1)), True, True)
    yield Case("sent_id of a million characters", text("# sent_id = " + "x" * 1_000_000, word(1), word(1)), False, False)
    yield Case("sent_id with escapes", text("# sent_id = \x1b[31m\x07\r\x85\u2028", word(1), word(1)), False, False)
    yield Case("an empty sent_id", text("# sent_id =", word(1)), True, True)
    yield Case("5000 sentences of a word", text(word(1)) * 5000, True, True)
    yield Case("400 words under the first", sentence_of(400), True, True)
    yield Case("400 words, upwards", chain(400, True), True, True)
    yield Case("400 words, downwards", chain(400, False), True, True)
    yield Case("HTML", b"<html><body>404</body></html>\n", False, False)
    yield Case("JSON", b'{"a": [1, 2]}\n', False, False)
    yield Case("CoNLL-X", text("1\tw\tw\tX\tX\t_\t0\troot"), False, False)
    yield Case("raw text", b"This is a sentence.\n", False, False)


def _fields():
    for name, form in {
        "a million characters": "x" * 1_000_000,
        "a million different characters": "".join(map(chr, range(0x4E00, 0x9FFF))) * 50,
        "a space": "a b",
        "combining marks": "a" + "\u0301" * 3000,
        "an emoji family": "👨‍👩‍👧‍👦",
        "right to left": "\u202eabc",
        "a hash": "#",
        "quotes": "\"'`",
        "a backslash": "\\t\\n\\0",
        "a format": "%s%d{0}",
        "an escape": "\x1b[2J\x1b]0;title\x07",
    }.items():
        yield Case("FORM of " + name, text(word(1, form=form)), True, True)
    for k, deps in enumerate(
        ("x", "1", ":", "1:", ":dep", "1:dep|", "|", "99:dep", "-5:dep", "1.1:dep", "1.5.2:dep", "a:b:c", "9" * 5000 + ":x")
    ):
        yield Case("DEPS %d" % k, text(word(1, deps=deps)), True, True)
    for k, deprel in enumerate(("", ":", "a:", ":a", "::", " ", "_", "root", "Root", "a" * 100_000, "a|b", "\x00")):
        yield Case("DEPREL %d" % k, text(word(1), word(2, head=1, deprel=deprel)), *2 * [deprel not in ("", " ", "\x00")])
    for k, feats in enumerate(("", "=", "|||", "a=b=c", "Case", "Case=Nom|Case=Acc", "x" * 100_000)):
        yield Case("FEATS %d" % k, text("1\tw\tw\tX\t_\t%s\t0\troot\t_\t_" % feats), feats != "", feats != "")
    for name, form in {"a space": " ", "no-break spaces": "\u00a0\u00a0"}.items():
        yield Case("FORM of nothing but " + name, text(word(1, form=form)), False, False)
    yield Case("empty columns", text("1\tw\t\t\t\t\t0\t\t\t"), False, False)
    yield Case("a range without FORM", text("1-2\t" + "\t_" * 8, word(1), word(2, head=1)), False, False)
    yield Case("LEMMA and MISC of a million characters", text(word(1, misc="m" * 1_000_000)), True, True)
    long_token = "1-400\t%s" % ("x" * 400) + "\t_" * 8
    yield Case("a token of 400 words", text(long_token, *(word(m, head=int(m > 1)) for m in range(1, 401))), True, True)


def _mutations():
    """Yield the good file with a few random changes."""
    rng = random.Random(SEED)
    for k in range(MUTATIONS):
        content = bytearray(GOOD.encode())
        for _ in range(rng.choice((1, 1, 1, 2, 5, 20))):
            mutate(content, rng)
        yield Case("mutation %d" % k, bytes(content))


def mutate(content, rng):
    at = rng.randrange(len(content)) if content else 0
    other = rng.randrange(at, min(len(content), at + 40) + 1)
    kind = rng.randrange(7)
    if kind == 0 and content:
        content[at] = rng.randrange(256)
    elif kind == 1 and content:
        content[at] = rng.choice(b"\t\n\r #-.0123456789_|:")
    elif kind == 2:
        del content[at:other]
    elif kind == 3:
        content[at:at] = content[at:other]
    elif kind == 4:
        content[at:at] = rng.choice((b"\t", b"\n", b"\n\n", b"\r\n", b"# ", b"-", b".", b"\xef\xbb\xbf", b"\xe2\x80\xa8"))
    elif kind == 5:
        del content[at:]
    else:
        lines = content.split(b"\n")
        rng.shuffle(lines)
        content[:] = b"\n".join(lines)
