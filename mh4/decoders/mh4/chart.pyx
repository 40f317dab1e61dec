"""The chart of the MH4 decoder, and reading a derivation off it; the items are described in decoder.pyx."""

from mh4.decoders.shared.replay cimport SH

cdef extern from "trace.h" nogil:
    void lost() except +


cdef class Chart(Search):
    """The items of a sentence. Node 0 can only be the start of an item.

    The last transition of every derivation is RA, from 0, and no other transition leads to [0,n+1]. So a derivation
    with a single root is one that has no arc from 0 before that.
    """

    cdef Step step2(self, int i, int l) noexcept nogil:
        """The best way to [i,l], l > i+1."""

    cdef Step step3(self, int i, int j, int l) noexcept nogil:
        """The best way to [i,j,l]."""

    cdef int trace(self) except -1 nogil:
        """Unfold the goal into the codes of its transitions: Combine is concatenation, Link appends its reduce.

        The agenda is last in, first out: what makes an item is pushed from right to left, so that the codes come out in order
        of execution.
        """
        cdef Todo todo
        cdef Step step
        cdef int j, k
        self.codes.clear()
        self.agenda.clear()
        self.agenda.push_back(item(0, 0, self.scores.n + 1))
        while self.agenda.size():
            todo = self.agenda.back()
            self.agenda.pop_back()
            self.watch.after(100 * (todo.l - todo.i))
            if todo.is_reduce:
                self.codes.push_back(todo.code)
            elif todo.j == 0 and todo.l == todo.i + 1:
                self.codes.push_back(SH)  # [i,i+1]
            elif todo.j == 0:
                step = self.step2(todo.i, todo.l)
                if not step.score > -INFINITY:
                    lost()
                self.agenda.push_back(reduce(step.code))
                self.agenda.push_back(item(todo.i, step.removed, todo.l))
            else:
                step = self.step3(todo.i, todo.j, todo.l)
                if not step.score > -INFINITY:
                    lost()
                if step.code == SH:
                    self.agenda.push_back(item(todo.j, 0, todo.l))
                    self.agenda.push_back(item(todo.i, 0, todo.j))
                    continue
                self.agenda.push_back(reduce(step.code))
                j = min(todo.j, step.removed)
                k = max(todo.j, step.removed)
                if step.splits_at_k:
                    self.agenda.push_back(item(k, 0, todo.l))
                    self.agenda.push_back(item(todo.i, j, k))
                else:
                    self.agenda.push_back(item(j, k, todo.l))
                    self.agenda.push_back(item(todo.i, 0, j))


cdef inline Todo item(int i, int j, int l) noexcept nogil:
    return Todo(False, SH, i, j, l)


cdef inline Todo reduce(int code) noexcept nogil:
    return Todo(True, code, 0, 0, 0)
