#ifndef DYNET_NODES_BILSTM_H_
#define DYNET_NODES_BILSTM_H_

#include <vector>

#include "dynet/dynet.h"

namespace dynet {

// A layer of two LSTMs, one from each end of the sequences, as a single node; see bilstm() below.
struct BiLSTM : public Node {
  BiLSTM(const std::vector<VariableIndex>& arguments, const std::vector<unsigned>& lengths);
  std::string as_string(const std::vector<std::string>& arguments) const override;
  Dim dim_forward(const std::vector<Dim>& xs) const override;
  size_t aux_storage_size() const override;
  void forward_impl(const std::vector<const Tensor*>& xs, Tensor& fx) const override;
  void backward_impl(const std::vector<const Tensor*>& xs, const Tensor& fx, const Tensor& dEdf, unsigned i,
                     Tensor& dEdxi) const override;

 private:
  struct Memory;
  Memory memory(void* start) const;
  void run_forward(const std::vector<const Tensor*>& xs, unsigned direction, float* states) const;
  void run_backward(const std::vector<const Tensor*>& xs, unsigned direction, const float* state_gradients) const;

  // Sequences are packed, as the columns of one matrix: first those of step 0, from the longest sequence to the shortest, then
  // those of step 1, and so on. Column steps[t].start + r belongs to step t of the r-th longest sequence.
  struct Step {
    size_t start, width;  // the first column, and the number of sequences that are long enough
  };
  std::vector<Step> steps;
  std::vector<size_t> input_columns[2];  // for each packed column of a direction, the column of x
  mutable unsigned inputs, units;
  mutable unsigned last_argument;  // of the last call of backward_impl
};

// Returns the states h of both directions, one above the other, (2 * units, N), with the equations and the names of
// mh4/parser/network/lstm.py. The columns of x, (inputs, N), are sequences of these lengths, side by side.
//
// arguments: x; then W, U, P_i, P_o and b of the LSTM that reads forward, and of the one that reads backward; then, with
// dropout, the masks.
//   W (3 * units, inputs), U (3 * units, units), b (3 * units): their rows are for the gates i and o and for the candidate g.
//   P_i, P_o: (units, units).
//   masks: factors of x, h and c as the gates see them, (inputs + 2 * units, number of sequences), as a batch of the two
//     directions. They are constants. Their columns go from the longest sequence to the shortest; equally long ones stay in order.
Expression bilstm(const std::vector<Expression>& arguments, const std::vector<unsigned>& lengths);

}  // namespace dynet

#endif
