// The score tensors of a sentence, in the order in which charts have them (names_of in arguments.pyx): of transitions and arcs, of which
// mst has the last, and of 1EC.
#pragma once

enum Tensor { SHIFT, S0B0, S1S0, ARCS, TENSORS };

namespace oneec {
enum Part { ARC, CROSSED_ARC, GRANDPARENT, SIBLING, PARTS };
static_assert((int)PARTS == (int)TENSORS, "as many of each");
}  // namespace oneec
