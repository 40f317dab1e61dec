

# Appended to python/_dynet.pyx of DyNet.

cdef extern from "dynet/nodes-bilstm.h" namespace "dynet":
    CExpression c_bilstm "dynet::bilstm" (const vector[CExpression]& arguments, const vector[unsigned]& lengths) except +

cdef extern from "dynet/aligned-mem-pool.h" namespace "dynet":
    cppclass AlignedMemoryPool:
        size_t get_cap()
        void reserve(size_t n) except +

cdef extern from "dynet/graph-memory.h" namespace "dynet":
    AlignedMemoryPool& graph_pool(bool gradients)
    size_t graph_bytes(CComputationGraph& graph, bool gradients) except +


def bilstm(arguments, lengths):
    """A layer of two LSTMs over sequences of these lengths, which are the columns of its input; see nodes-bilstm.h.

    arguments: expressions, the input, the weights of both LSTMs and, with dropout, the masks.
    """
    cdef Expression argument
    cdef vector[CExpression] expressions
    for argument in arguments:
        ensure_freshness(argument)
        expressions.push_back(argument.c())
    return Expression.from_cexpr(argument.cg_version, c_bilstm(expressions, lengths))
