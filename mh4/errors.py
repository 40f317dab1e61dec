"""Errors in the user's input, explained in one sentence."""


class InputError(Exception):
    """Bad input: the message is one sentence for the user, with the file, the line and what was expected.

    The command line prints it and exits with code 2; nothing is written.
    """


def reason(error: OSError) -> str:
    """The operating system's message."""
    return error.strerror or str(error)
