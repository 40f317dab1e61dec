"""Errors in the user's input, explained in one sentence."""


class InputError(Exception):
    """Bad input: the message is one sentence for the user, with the file, the line and what was expected.

    The command line prints it and exits with code 2; nothing is written.
    """


class OutOfMemory(InputError, MemoryError):
    """A sentence is too long for the memory of the machine; the message names it."""


def reason(error: OSError) -> str:
    """The operating system's message."""
    return error.strerror or str(error)


def shown(text: str) -> str:
    """`text` in quotes for a message; of a long text, only the beginning and the end."""
    return repr(text if len(text) <= 60 else text[:40] + "..." + text[-10:])


def one_line(message: str) -> str:
    """A message with line breaks, terminal escapes and similar characters, which may come from a file, made visible."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in message)
