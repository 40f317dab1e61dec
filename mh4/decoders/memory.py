"""The error for a sentence that is too long for the memory of the machine."""


def out_of_memory(n: int, size: float) -> MemoryError:
    """The error for a sentence of n words, whose tables take up `size` bytes."""
    return MemoryError(f"a sentence of {n} words needs {max(size / 2**20, 1):.0f} MB, which is more memory than there is")
