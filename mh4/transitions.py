"""The transition systems of MH3, MH4 and MH5 (Section 3.2 of the paper), in plain Python.

With stack ...|s3|s2|s1|s0 and buffer b0|..., the transitions are

    code  name  arc made    removed        code  name  arc made    removed
    0     SH    none; b0 moves to the stack
    1     LA    b0 -> s0    s0             4     RA'   s2 -> s1    s1
    2     RA    s1 -> s0    s0             5     LA2   b0 -> s1    s1
    3     LA'   s0 -> s1    s1             6     RA2   s2 -> s0    s0

    7     RA3   s3 -> s0    s0             10    LA''  s1 -> s2    s2
    8     RA'2  s3 -> s1    s1             11    LA''2 s0 -> s2    s2
    9     RA''  s3 -> s2    s2             12    LA3   b0 -> s2    s2

The first three transitions form the arc-hybrid system (MH3), the first seven the MH4 system, and all of them the MH5
system. The paper derives the MH4 transitions from chart items of four heads; codes 7 to 12 follow in the same way from
items of five heads, whose first head is s3.

Nodes are 0 (the root), 1..n (the words) and n+1 (the end-of-sentence sentinel). The sentinel can only be b0: it is
never shifted, and it is never a head or a dependent. The root is never a dependent.

The exact decoders and beam search return their transitions as these codes (``Derivation.transitions``).
``mh4.parser.oracle`` defines the transition sequences that greedy parsers learn.
"""

from enum import IntEnum

import numpy as np

from mh4.decoders.arguments import flag
from mh4.errors import counted

EMPTY = -1  # a stack position that holds no node


class Transition(IntEnum):
    """Transition codes; reduce transition t is row t - 1 of the reduce scores."""

    SH = 0
    LA = 1
    RA = 2
    LA_PRIME = 3
    RA_PRIME = 4
    LA2 = 5
    RA2 = 6
    RA3 = 7
    RA_PRIME_2 = 8
    RA_PRIME_PRIME = 9
    LA_PRIME_PRIME = 10
    LA_PRIME_PRIME_2 = 11
    LA3 = 12

    def __str__(self) -> str:
        return self.name.replace("_PRIME", "'").replace("_", "")


SH, LA, RA, LA_PRIME, RA_PRIME, LA2, RA2 = MH4 = tuple(Transition)[:7]
MH3 = MH4[:3]
MH5 = tuple(Transition)

# The positions of the head and the dependent of each reduce transition's arc.
ARC: dict[int, tuple[str, str]] = {
    LA: ("b0", "s0"),
    RA: ("s1", "s0"),
    LA_PRIME: ("s0", "s1"),
    RA_PRIME: ("s2", "s1"),
    LA2: ("b0", "s1"),
    RA2: ("s2", "s0"),
    Transition.RA3: ("s3", "s0"),
    Transition.RA_PRIME_2: ("s3", "s1"),
    Transition.RA_PRIME_PRIME: ("s3", "s2"),
    Transition.LA_PRIME_PRIME: ("s1", "s2"),
    Transition.LA_PRIME_PRIME_2: ("s0", "s2"),
    Transition.LA3: ("b0", "s2"),
}

# The columns of the head and the dependent of each MH4 reduce, in rows (s2, s1, s0, b0).
_HEADS, _DEPENDENTS = ([("s2", "s1", "s0", "b0").index(ARC[code][end]) for code in MH4[1:]] for end in (0, 1))


def _on_stack(depth: int, meaning: str) -> property:
    def node(configuration: "Configuration") -> int:
        return configuration.stack[-depth] if len(configuration.stack) >= depth else EMPTY

    return property(node, doc=meaning)


class Configuration:
    """A parser state over n words; it starts with an empty stack and the buffer 0, 1, ..., n+1.

    stack: list of nodes, the top (s0) last; buffer: range of nodes, b0 first (never empty: the sentinel stays);
    heads: int32 array of length n+1, -1 for the root and for words without a head yet.
    """

    def __init__(self, n: int) -> None:
        if n < 0:
            raise ValueError(f"a sentence cannot have {n} words")
        self.n = n
        self.stack: list[int] = []
        self.buffer = range(n + 2)
        self.heads = np.full(n + 1, -1, dtype=np.int32)

    def __repr__(self) -> str:
        return f"Configuration(stack={self.stack}, buffer={list(self.buffer)}, heads={self.heads.tolist()})"

    @property
    def b0(self) -> int:
        """The first node of the buffer."""
        return self.buffer[0]

    s0 = _on_stack(1, "The top of the stack, or -1.")
    s1 = _on_stack(2, "The second node of the stack, or -1.")
    s2 = _on_stack(3, "The third node of the stack, or -1.")
    s3 = _on_stack(4, "The fourth node of the stack, or -1.")

    @property
    def positions(self) -> tuple[int, int, int, int]:
        """The nodes at s2, s1, s0 and b0, -1 where a position is empty."""
        return self.s2, self.s1, self.s0, self.b0

    def is_final(self) -> bool:
        """Return whether only the root is on the stack and only the sentinel in the buffer: every word has its head."""
        return self.stack == [0] and self.b0 == self.n + 1

    def arc(self, code: int) -> tuple[int, int]:
        """Return the (head, dependent) of the arc that a reduce transition would make here, -1 where a position is empty."""
        head, dependent = ARC[Transition(code)]
        return getattr(self, head), getattr(self, dependent)

    def legal(self, code: int) -> bool:
        """Return whether the transition can be applied here.

        SH is legal unless b0 is the sentinel. A reduce is legal if both ends of its arc exist, its head is not the
        sentinel and its dependent is not the root. Any sequence of legal transitions can be completed: while words
        remain on the stack or in the buffer, SH or RA is legal.
        """
        return self._why_not(Transition(code)) is None

    def apply(self, code: int) -> None:
        """Apply a transition, changing this configuration. Raises ValueError if it is not legal."""
        code = Transition(code)
        reason = self._why_not(code)
        if reason:
            raise ValueError(f"{code} is not legal with stack {self.stack} and b0 = {self.b0}: {reason}")
        if code == SH:
            self.stack.append(self.b0)
            self.buffer = self.buffer[1:]
        else:
            head, dependent = self.arc(code)
            self.heads[dependent] = head
            del self.stack[self.stack.index(dependent, -3)]  # the dependent is s0, s1 or s2

    def _why_not(self, code: int) -> str | None:
        """Return why a transition is illegal here, or None."""
        sentinel = self.n + 1
        if code == SH:
            return "the end-of-sentence sentinel cannot be shifted" if self.b0 == sentinel else None
        head, dependent = self.arc(code)
        for node, position in zip((head, dependent), ARC[code], strict=True):
            if node == EMPTY:
                return f"there is no {position}"
        if head == sentinel:
            return "the end-of-sentence sentinel cannot be a head"
        if dependent == 0:
            return "the root cannot be a dependent"
        return None


def run(transitions: np.ndarray, n: int) -> np.ndarray:
    """Execute a sequence of transitions over n words and return the heads.

    transitions: int array (2n+1, 4) of rows (code, s1, s0, b0), the positions before the transition, -1 where a position
    is empty. Returns an int32 array of length n+1 with -1 for the root.
    Raises ValueError, naming the row, if a transition is illegal or a position differs from the actual one.
    """
    configuration = Configuration(n)
    rows = np.asarray(transitions)
    if rows.ndim != 2 or rows.shape[1] != 4 or not np.issubdtype(rows.dtype, np.integer):
        raise ValueError(f"transitions are an integer array of rows (code, s1, s0, b0), not {rows.dtype} of shape {rows.shape}")
    if len(rows) != 2 * n + 1:
        raise ValueError(f"expected {2 * n + 1} transitions for {counted(n, 'word')}, not {len(rows)}")
    for step, (code, *stated) in enumerate(rows.tolist()):
        actual = [configuration.s1, configuration.s0, configuration.b0]
        if stated != actual:
            raise ValueError(f"transition row {step} has (s1, s0, b0) = {tuple(stated)}, but they are {tuple(actual)}")
        try:
            configuration.apply(code)
        except ValueError as error:
            raise ValueError(f"transition row {step}: {error}") from None
    # 2n+1 legal transitions are n+1 shifts and n reduces, so the configuration is final.
    return configuration.heads


def legal(positions: np.ndarray, n: int, single_root: bool = False) -> np.ndarray:
    """Return which transitions of MH4 can be applied in each of m configurations over n words: bool (7, m), by code.

    positions: int array (m, 4) of rows (s2, s1, s0, b0), -1 where a position is empty.

    The rules are those of ``Configuration.legal``. With `single_root`, an arc from the root is legal only if it
    completes the tree: the stack is [0, s0], and only the sentinel is in the buffer. So only the last transition of a
    sequence can make an arc from the root.
    """
    rows = np.asarray(positions)
    if rows.ndim != 2 or rows.shape[1] != 4:
        raise ValueError(f"positions are an integer array of rows (s2, s1, s0, b0), not of shape {rows.shape}")
    words_left = rows[:, 3] <= n
    heads, dependents = rows[:, _HEADS], rows[:, _DEPENDENTS]
    found = (dependents > 0) & (heads <= n) & (heads >= flag(single_root))
    if single_root:
        found[:, RA - 1] |= (rows[:, 1] == 0) & ~words_left
    return np.vstack([words_left, found.T])
