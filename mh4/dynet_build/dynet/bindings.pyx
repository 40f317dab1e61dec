

# Appended to python/_dynet.pyx of DyNet.

cdef extern from "dynet/nodes-bilstm.h" namespace "dynet":
    CExpression c_bilstm "dynet::bilstm" (const vector[CExpression]& arguments, const vector[unsigned]& lengths) except +


def bilstm(arguments, lengths):
    """A layer of two LSTMs, one from each end, over many sequences at once: see nodes-bilstm.h.

    arguments: the input, the weights and perhaps masks, expressions; lengths: the number of columns of each sequence.
    """
    cdef Expression argument
    cdef vector[CExpression] expressions
    for argument in arguments:
        ensure_freshness(argument)
        expressions.push_back(argument.c())
    return Expression.from_cexpr(argument.cg_version, c_bilstm(expressions, lengths))
