"""The chart of the MH5 decoder, and reading a derivation off it; the items are described in decoder.pyx."""

from mh4.decoders.shared.replay cimport SH

cdef extern from "trace.h" nogil:
    void lost() except +


cdef class Chart(Search):
    """The items of a sentence. Node 0 can only be the start of an item.

    As in MH4, a derivation with a single root has no arc from 0 before its last transition, RA from [0,j,n+1].
    """

    cdef Step step2(self, int i, int l) noexcept nogil:
        """The best way to [i,l], l > i+1."""

    cdef Step step3(self, int i, int j, int l) noexcept nogil:
        """The best way to [i,j,l]."""

    cdef Step step4(self, int i, int j, int k, int l) noexcept nogil:
        """The best way to [i,j,k,l]."""

    cdef int trace(self) except -1 nogil:
        """Unfold the goal into the codes of its transitions: Combine is concatenation, Link appends its reduce."""
        cdef Todo todo
        cdef Step step
        self.codes.clear()
        self.agenda.clear()
        self.agenda.push_back(item(0, 0, 0, self.scores.n + 1))
        while self.agenda.size():
            todo = self.agenda.back()
            self.agenda.pop_back()
            self.watch.after(500 * (todo.l - todo.i))
            if todo.code != SH:
                self.codes.push_back(todo.code)
            elif todo.k > 0:
                self.unfold4(todo.i, todo.j, todo.k, todo.l)
            elif todo.j > 0:
                step = self.step3(todo.i, todo.j, todo.l)
                if not step.score > -INFINITY:
                    lost()
                if step.code == SH:
                    self.agenda.push_back(item(todo.j, 0, 0, todo.l))
                    self.agenda.push_back(item(todo.i, 0, 0, todo.j))
                else:
                    self.agenda.push_back(reduce(step.code))
                    self.agenda.push_back(item(todo.i, min(todo.j, step.removed), max(todo.j, step.removed), todo.l))
            elif todo.l == todo.i + 1:
                self.codes.push_back(SH)
            else:
                step = self.step2(todo.i, todo.l)
                if not step.score > -INFINITY:
                    lost()
                self.agenda.push_back(reduce(step.code))
                self.agenda.push_back(item(todo.i, step.removed, 0, todo.l))

    cdef int unfold4(self, int i, int j, int k, int l) except -1 nogil:
        cdef Step step = self.step4(i, j, k, l)
        if not step.score > -INFINITY:
            lost()
        if step.code == SH:
            if step.left == 3:
                self.agenda.push_back(item(k, 0, 0, l))
                self.agenda.push_back(item(i, j, 0, k))
            else:
                self.agenda.push_back(item(j, k, 0, l))
                self.agenda.push_back(item(i, 0, 0, j))
            return 0
        self.agenda.push_back(reduce(step.code))
        if step.removed < j:
            self.unfold5(i, step.removed, j, k, l, step.left)
        elif step.removed < k:
            self.unfold5(i, j, step.removed, k, l, step.left)
        else:
            self.unfold5(i, j, k, step.removed, l, step.left)

    cdef int unfold5(self, int i, int j, int k, int l, int r, int left) except -1 nogil:
        if left == 4:
            self.agenda.push_back(item(l, 0, 0, r))
            self.agenda.push_back(item(i, j, k, l))
        elif left == 3:
            self.agenda.push_back(item(k, l, 0, r))
            self.agenda.push_back(item(i, j, 0, k))
        else:
            self.agenda.push_back(item(j, k, l, r))
            self.agenda.push_back(item(i, 0, 0, j))


cdef inline Todo item(int i, int j, int k, int l) noexcept nogil:
    return Todo(SH, i, j, k, l)


cdef inline Todo reduce(int code) noexcept nogil:
    return Todo(code, 0, 0, 0, 0)
