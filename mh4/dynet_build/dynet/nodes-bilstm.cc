#include "dynet/nodes-bilstm.h"

#include <algorithm>
#include <numeric>

#include "dynet/except.h"
#include "dynet/nodes-def-macros.h"
#include "dynet/products.h"
#include "dynet/simd-functors.h"
#include "dynet/tensor-eigen.h"
#include "dynet/expr.h"  // last, as it declares functions with the names of those of the standard library

using std::vector;

namespace dynet {

namespace {

using namespace Eigen::internal;

typedef Eigen::Map<Eigen::MatrixXf> Matrix;
typedef packet_traits<float>::type Packet;
const size_t WIDTH = unpacket_traits<Packet>::size;
const size_t CACHE_LINE = 16;  // floats

// Loads a packet of `count` floats; the others are 0.
inline Packet load(const float* from, size_t count) {
  if (count == WIDTH) return ploadu<Packet>(from);
  float some[WIDTH] = {};
  std::copy(from, from + count, some);
  return ploadu<Packet>(some);
}

// Stores the first `count` floats of a packet.
inline void store(float* to, Packet packet, size_t count) {
  if (count == WIDTH) return pstoreu(to, packet);
  float some[WIDTH];
  pstoreu(some, packet);
  std::copy(some, some + count, to);
}

inline Packet logistic(Packet x) { return scalar_logistic_sigmoid_op<float>().packetOp(x); }

inline Packet one_minus(Packet x) { return psub(pset1<Packet>(1.f), x); }

// Divides memory among matrices. Without memory, it only counts.
class Arena {
 public:
  explicit Arena(float* memory) : memory(memory), used(0) {}
  Matrix take(size_t rows, size_t columns) {
    float* start = memory ? memory + used : nullptr;
    used += (rows * columns + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    return Matrix(start, rows, columns);
  }
  size_t size() const { return used; }

 private:
  float* memory;
  size_t used;
};

// The arguments of one direction.
struct Weights {
  Matrix W, U, P_i, P_o;
  const float *b, *masks;
  size_t inputs, units;

  Weights(const vector<const Tensor*>& xs, unsigned direction)
      : W(mat(*xs[1 + 5 * direction])),
        U(mat(*xs[2 + 5 * direction])),
        P_i(mat(*xs[3 + 5 * direction])),
        P_o(mat(*xs[4 + 5 * direction])),
        b(xs[5 + 5 * direction]->v),
        masks(xs.size() == 12 ? xs[11]->batch_ptr(direction) : nullptr),
        inputs(W.cols()),
        units(U.cols()) {}

  // The masks of the r-th longest sequence, or null without dropout.
  const float* x_mask(size_t r) const { return masks ? masks + r * (inputs + 2 * units) : nullptr; }
  const float* h_mask(size_t r) const { return masks ? x_mask(r) + inputs : nullptr; }
  const float* c_mask(size_t r) const { return masks ? x_mask(r) + inputs + units : nullptr; }
};

// The values of one direction that the gradients need, in packed columns.
struct Values {
  Matrix masked_x;
  Matrix gates;  // i, o and g
  Matrix c, tanh_c, masked_c;
  Matrix previous_masked_c, previous_masked_h;  // of the previous step; undefined in step 0
  Matrix d_gates;                               // the gradients of i, o and g before their nonlinearities

  Values(Arena& arena, size_t inputs, size_t units, size_t columns)
      : masked_x(arena.take(inputs, columns)),
        gates(arena.take(3 * units, columns)),
        c(arena.take(units, columns)),
        tanh_c(arena.take(units, columns)),
        masked_c(arena.take(units, columns)),
        previous_masked_c(arena.take(units, columns)),
        previous_masked_h(arena.take(units, columns)),
        d_gates(arena.take(3 * units, columns)) {}
};

}  // namespace

// The auxiliary memory of a node.
struct BiLSTM::Memory {
  Arena arena;
  Values values[2];

  // Of run_backward: transposed weights, and the gradients that a step passes to the previous one, a column for each sequence.
  Arena for_steps;
  Matrix U_transposed, P_i_transposed, P_o_transposed, d_h, d_c, d_masked_c;

  // Of the gradient of x, in the same memory.
  Arena for_x;
  Matrix d_masked_x, W_transposed;

  Memory(float* start, size_t inputs, size_t units, size_t columns, size_t sequences)
      : arena(start),
        values{{arena, inputs, units, columns}, {arena, inputs, units, columns}},
        for_steps(arena),
        U_transposed(for_steps.take(units, 3 * units)),
        P_i_transposed(for_steps.take(units, units)),
        P_o_transposed(for_steps.take(units, units)),
        d_h(for_steps.take(units, sequences)),
        d_c(for_steps.take(units, sequences)),
        d_masked_c(for_steps.take(units, sequences)),
        for_x(arena),
        d_masked_x(for_x.take(inputs, columns)),
        W_transposed(for_x.take(inputs, 3 * units)) {}

  size_t size() const { return std::max(for_steps.size(), for_x.size()); }
};

BiLSTM::BiLSTM(const vector<VariableIndex>& arguments, const vector<unsigned>& lengths) : Node(arguments), last_argument(~0u) {
  vector<size_t> by_length(lengths.size()), starts(lengths.size(), 0);
  std::iota(by_length.begin(), by_length.end(), 0);
  std::stable_sort(by_length.begin(), by_length.end(), [&](size_t a, size_t b) { return lengths[a] > lengths[b]; });
  for (size_t k = 1; k < lengths.size(); ++k) starts[k] = starts[k - 1] + lengths[k - 1];
  for (size_t t = 0, width = lengths.size();; ++t) {
    while (width && lengths[by_length[width - 1]] <= t) --width;
    if (!width) break;
    steps.push_back({input_columns[0].size(), width});
    for (size_t r = 0; r < width; ++r) {
      const size_t sequence = by_length[r];
      input_columns[0].push_back(starts[sequence] + t);
      input_columns[1].push_back(starts[sequence] + lengths[sequence] - 1 - t);
    }
  }
}

std::string BiLSTM::as_string(const vector<std::string>& arguments) const {
  return "bilstm(" + arguments[0] + ", " + std::to_string(steps.empty() ? 0 : steps[0].width) + " sequences)";
}

Dim BiLSTM::dim_forward(const vector<Dim>& xs) const {
  DYNET_ARG_CHECK(xs.size() == 11 || xs.size() == 12, "Bad number of arguments in BiLSTM: " << xs);
  const size_t columns = input_columns[0].size();
  inputs = xs[0].rows();
  units = xs[2].cols();
  bool valid = columns && xs[0].bd == 1 && xs[0].nd <= 2 && xs[0].cols() == columns;
  for (unsigned k = 1; k < 11; k += 5)
    valid = valid && xs[k] == Dim({3 * units, inputs}) && xs[k + 1] == Dim({3 * units, units}) &&
            xs[k + 2] == Dim({units, units}) && xs[k + 3] == Dim({units, units}) && xs[k + 4] == Dim({3 * units});
  if (xs.size() == 12) valid = valid && xs[11].rows() == inputs + 2 * units && xs[11].cols() == steps[0].width && xs[11].bd == 2;
  DYNET_ARG_CHECK(valid, "Bad dimensions in BiLSTM of " << columns << " columns: " << xs);
  return Dim({2 * units, xs[0].cols()});
}

BiLSTM::Memory BiLSTM::memory(void* start) const {
  return Memory(static_cast<float*>(start), inputs, units, input_columns[0].size(), steps[0].width);
}

size_t BiLSTM::aux_storage_size() const { return memory(nullptr).size() * sizeof(float); }

void BiLSTM::forward_impl(const vector<const Tensor*>& xs, Tensor& fx) const {
  for (unsigned direction = 0; direction < 2; ++direction) run_forward(xs, direction, fx.v + direction * units);
}

// Computes the states of a direction, each in the upper half of a column of `states`.
void BiLSTM::run_forward(const vector<const Tensor*>& xs, unsigned direction, float* states) const {
  const size_t inputs = this->inputs, units = this->units;
  const vector<size_t>& input_column = input_columns[direction];
  const Weights weights(xs, direction);
  Memory memory = this->memory(aux_mem);
  Values& v = memory.values[direction];

  for (const Step& step : steps)
    for (size_t r = 0; r < step.width; ++r) {
      const size_t column = step.start + r;
      const float *x = xs[0]->v + input_column[column] * inputs, *mask = weights.x_mask(r);
      float* masked_x = &v.masked_x(0, column);
      for (size_t k = 0; k < inputs; ++k) masked_x[k] = mask ? x[k] * mask[k] : x[k];
      std::copy(weights.b, weights.b + 3 * units, &v.gates(0, column));
    }
  add_ab(weights.W, v.masked_x, v.gates);

  for (size_t t = 0; t < steps.size(); ++t) {
    const size_t start = steps[t].start, width = steps[t].width;
    auto gates = v.gates.middleCols(start, width);
    if (t) {
      add_ab(weights.U, v.previous_masked_h.middleCols(start, width), gates);
      add_ab(weights.P_i, v.previous_masked_c.middleCols(start, width), gates.topRows(units));
    }
    for (size_t r = 0; r < width; ++r) {
      const size_t column = start + r;
      float *i = &v.gates(0, column), *g = i + 2 * units;
      float *c = &v.c(0, column), *tanh_c = &v.tanh_c(0, column), *masked_c = &v.masked_c(0, column);
      const float *previous_c = t ? &v.c(0, steps[t - 1].start + r) : nullptr, *mask = weights.c_mask(r);
      for (size_t k = 0; k < units; k += WIDTH) {
        const size_t count = std::min(WIDTH, units - k);
        const Packet gate = logistic(load(i + k, count)), candidate = ptanh(load(g + k, count));
        Packet cell = pmul(gate, candidate);
        if (t) {
          const Packet previous = load(previous_c + k, count);
          cell = pmadd(gate, psub(candidate, previous), previous);  // (1 - i) c + i g
        }
        store(i + k, gate, count);
        store(g + k, candidate, count);
        store(c + k, cell, count);
        store(tanh_c + k, ptanh(cell), count);
        store(masked_c + k, mask ? pmul(cell, load(mask + k, count)) : cell, count);
      }
    }
    add_ab(weights.P_o, v.masked_c.middleCols(start, width), gates.middleRows(units, units));
    const Step next = t + 1 < steps.size() ? steps[t + 1] : Step{0, 0};
    for (size_t r = 0; r < width; ++r) {
      const size_t column = start + r;
      float *o = &v.gates(units, column), *h = states + input_column[column] * 2 * units;
      float* masked_h = r < next.width ? &v.previous_masked_h(0, next.start + r) : nullptr;
      const float *tanh_c = &v.tanh_c(0, column), *mask = weights.h_mask(r);
      for (size_t k = 0; k < units; k += WIDTH) {
        const size_t count = std::min(WIDTH, units - k);
        const Packet gate = logistic(load(o + k, count)), state = pmul(gate, load(tanh_c + k, count));
        store(o + k, gate, count);
        store(h + k, state, count);
        if (masked_h) store(masked_h + k, mask ? pmul(state, load(mask + k, count)) : state, count);
      }
    }
    v.previous_masked_c.middleCols(next.start, next.width) = v.masked_c.middleCols(start, next.width);
  }
}

// Computes d_gates from the gradients of the states of a direction, each in the upper half of a column of `state_gradients`.
void BiLSTM::run_backward(const vector<const Tensor*>& xs, unsigned direction, const float* state_gradients) const {
  const size_t units = this->units;
  const vector<size_t>& input_column = input_columns[direction];
  const Weights weights(xs, direction);
  Memory memory = this->memory(aux_mem);
  Values& v = memory.values[direction];

  transpose(weights.U, memory.U_transposed.data());
  transpose(weights.P_i, memory.P_i_transposed.data());
  transpose(weights.P_o, memory.P_o_transposed.data());
  memory.d_h.setZero();
  memory.d_c.setZero();
  memory.d_masked_c.setZero();

  for (size_t t = steps.size(); t--;) {
    const size_t start = steps[t].start, width = steps[t].width;
    auto d_gates = v.d_gates.middleCols(start, width);
    // h = o tanh(c)
    for (size_t r = 0; r < width; ++r) {
      const size_t column = start + r;
      const float *outer = state_gradients + input_column[column] * 2 * units, *mask = weights.h_mask(r);
      const float *tanh_c = &v.tanh_c(0, column), *o = &v.gates(units, column), *d_h = &memory.d_h(0, r);
      float *d_o = &v.d_gates(units, column), *d_c = &memory.d_c(0, r);
      for (size_t k = 0; k < units; k += WIDTH) {
        const size_t count = std::min(WIDTH, units - k);
        const Packet squashed = load(tanh_c + k, count), gate = load(o + k, count);
        Packet later = load(d_h + k, count);
        if (mask) later = pmul(later, load(mask + k, count));
        const Packet d_state = padd(load(outer + k, count), later);
        store(d_o + k, pmul(pmul(d_state, squashed), pmul(gate, one_minus(gate))), count);
        const Packet d_cell = pmul(pmul(d_state, gate), one_minus(pmul(squashed, squashed)));
        store(d_c + k, padd(load(d_c + k, count), d_cell), count);
      }
    }
    add_ab(memory.P_o_transposed, d_gates.middleRows(units, units), memory.d_masked_c.leftCols(width));
    // c = (1 - i) previous_c + i g
    for (size_t r = 0; r < width; ++r) {
      const size_t column = start + r;
      const float *previous_c = t ? &v.c(0, steps[t - 1].start + r) : nullptr, *mask = weights.c_mask(r);
      const float *i = &v.gates(0, column), *g = i + 2 * units, *d_masked_c = &memory.d_masked_c(0, r);
      float *d_i = &v.d_gates(0, column), *d_g = d_i + 2 * units, *d_c = &memory.d_c(0, r);
      for (size_t k = 0; k < units; k += WIDTH) {
        const size_t count = std::min(WIDTH, units - k);
        const Packet gate = load(i + k, count), candidate = load(g + k, count);
        Packet by_gates = load(d_masked_c + k, count);
        if (mask) by_gates = pmul(by_gates, load(mask + k, count));
        const Packet d_cell = padd(load(d_c + k, count), by_gates);
        const Packet change = t ? psub(candidate, load(previous_c + k, count)) : candidate;
        store(d_i + k, pmul(pmul(d_cell, change), pmul(gate, one_minus(gate))), count);
        store(d_g + k, pmul(pmul(d_cell, gate), one_minus(pmul(candidate, candidate))), count);
        store(d_c + k, pmul(d_cell, one_minus(gate)), count);
      }
    }
    if (t) {
      memory.d_h.leftCols(width).setZero();
      memory.d_masked_c.leftCols(width).setZero();
      add_ab(memory.U_transposed, d_gates, memory.d_h.leftCols(width));
      add_ab(memory.P_i_transposed, d_gates.topRows(units), memory.d_masked_c.leftCols(width));
    }
  }
}

void BiLSTM::backward_impl(const vector<const Tensor*>& xs, const Tensor&, const Tensor& dEdf, unsigned i, Tensor& dEdxi) const {
  // DyNet calls this for one argument after another. The first call computes d_gates, on which all gradients depend.
  if (i <= last_argument)
    for (unsigned direction = 0; direction < 2; ++direction) run_backward(xs, direction, dEdf.v + direction * units);
  last_argument = i;

  Memory memory = this->memory(aux_mem);
  if (i == 0) {
    for (unsigned direction = 0; direction < 2; ++direction) {
      const Weights weights(xs, direction);
      memory.d_masked_x.setZero();
      add_atb(weights.W, memory.values[direction].d_gates, memory.d_masked_x, memory.W_transposed.data());
      for (const Step& step : steps)
        for (size_t r = 0; r < step.width; ++r) {
          const size_t column = step.start + r;
          const float *d_masked_x = &memory.d_masked_x(0, column), *mask = weights.x_mask(r);
          float* d_x = dEdxi.v + input_columns[direction][column] * inputs;
          for (size_t k = 0; k < inputs; ++k) d_x[k] += mask ? d_masked_x[k] * mask[k] : d_masked_x[k];
        }
    }
    return;
  }
  DYNET_ARG_CHECK(i < 11, "The masks of BiLSTM are constants, without derivatives");
  Values& v = memory.values[(i - 1) / 5];
  const size_t columns = v.c.cols(), after_first = columns - steps[0].width;  // of all steps, and of those after the first
  switch ((i - 1) % 5) {
    case 0: return add_abt(v.d_gates, v.masked_x, mat(dEdxi));
    case 1: return add_abt(v.d_gates.rightCols(after_first), v.previous_masked_h.rightCols(after_first), mat(dEdxi));
    case 2:
      return add_abt(v.d_gates.topRows(units).rightCols(after_first), v.previous_masked_c.rightCols(after_first), mat(dEdxi));
    case 3: return add_abt(v.d_gates.middleRows(units, units), v.masked_c, mat(dEdxi));
    case 4:
      for (size_t column = 0; column < columns; ++column)
        for (size_t k = 0; k < 3 * units; ++k) dEdxi.v[k] += v.d_gates(k, column);
  }
}

Expression bilstm(const vector<Expression>& arguments, const vector<unsigned>& lengths) {
  return detail::f<BiLSTM>(arguments, lengths);
}

}  // namespace dynet
