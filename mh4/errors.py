"""What the user gave cannot be used, and why, in one sentence."""


class InputError(Exception):
    """Bad input: the message is one sentence for people, naming file, line and what was expected.

    The command line prints it and exits with code 2; nothing is written.
    """


def reason(error: OSError) -> str:
    """Why the operating system refused, in its own words."""
    return error.strerror or str(error)
