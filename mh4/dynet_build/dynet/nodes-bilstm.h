#ifndef DYNET_NODES_BILSTM_H_
#define DYNET_NODES_BILSTM_H_

#include <vector>

#include "dynet/dynet.h"

namespace dynet {

// A layer of two LSTMs, one from each end, over many sequences at once, as defined in mh4/parser/network/lstm.py; see bilstm() below.
struct BiLSTM : public Node {
  BiLSTM(const std::vector<VariableIndex>& arguments, const std::vector<unsigned>& lengths);
  std::string as_string(const std::vector<std::string>& arguments) const override;
  Dim dim_forward(const std::vector<Dim>& xs) const override;
  size_t aux_storage_size() const override;
  void forward_impl(const std::vector<const Tensor*>& xs, Tensor& fx) const override;
  void backward_impl(const std::vector<const Tensor*>& xs, const Tensor& fx, const Tensor& dEdf, unsigned i,
                     Tensor& dEdxi) const override;

 private:
  struct Step {
    size_t start, width;  // its columns, among the packed ones
  };
  struct Direction;
  Direction direction(const std::vector<const Tensor*>& xs, unsigned which) const;
  void run(const Direction& lstm, const Tensor& x, float* states) const;
  void run_back(const Direction& lstm, const float* gradients) const;

  // Sequences are packed: from the longest to the shortest, so that those still running at step t are the first columns of one
  // matrix. Column steps[t].start + r belongs to the r-th longest sequence.
  std::vector<Step> steps;
  std::vector<size_t> columns[2];  // for each packed column of a direction, the column of x
  mutable size_t inputs, units;
  mutable unsigned previous;  // the argument of the previous call of backward_impl
};

// The states of both directions, one above the other: (2 * units, N), from sequences with these lengths, side by side in the
// columns of x, (inputs, N).
//
// arguments: x; then for the direction ahead, and again for the one behind, the weights from the input, (3 * units, inputs), and
// from the state, (3 * units, units), of input gate, output gate and candidate, those from the cell to the input gate and to the
// output gate, (units, units) each, and the bias, 3 * units. Then, if there is dropout, masks: (inputs + 2 * units, number of
// sequences), from the longest to the shortest (the first first among equals), for each direction as a batch of two. Their rows
// are factors of the input, the state and the cell as the gates see them; they are constants.
Expression bilstm(const std::vector<Expression>& arguments, const std::vector<unsigned>& lengths);

}  // namespace dynet

#endif
