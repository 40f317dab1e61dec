#include "dynet/nodes-bilstm.h"

#include <algorithm>
#include <numeric>
#include <Eigen/Core>

#include "dynet/except.h"
#include "dynet/nodes-def-macros.h"
#include "dynet/products.h"
#include "dynet/simd-functors.h"
#include "dynet/expr.h"  // last, as it declares functions with the names of those of the standard library

using std::vector;

namespace dynet {

namespace {

using namespace Eigen::internal;

typedef packet_traits<float>::type Packet;
const size_t WIDTH = unpacket_traits<Packet>::size;
const size_t ALIGNED = 16;  // numbers in a line of the cache

// A packet of which only the first `count` numbers are in memory.
inline Packet load(const float* from, size_t count) {
  if (count == WIDTH) return ploadu<Packet>(from);
  float some[WIDTH] = {};
  std::copy(from, from + count, some);
  return ploadu<Packet>(some);
}

inline void store(float* to, Packet packet, size_t count) {
  if (count == WIDTH) return pstoreu(to, packet);
  float some[WIDTH];
  pstoreu(some, packet);
  std::copy(some, some + count, to);
}

inline Packet logistic(Packet x) { return scalar_logistic_sigmoid_op<float>().packetOp(x); }

inline Packet one_minus(Packet x) { return psub(pset1<Packet>(1.f), x); }

size_t aligned(size_t numbers) { return (numbers + ALIGNED - 1) / ALIGNED * ALIGNED; }

// Consecutive arrays in one piece of memory.
struct Arena {
  float* next;
  size_t used;
  float* take(size_t numbers) {
    float* array = next ? next + used : nullptr;
    used += aligned(numbers);
    return array;
  }
};

}  // namespace

// The arguments of one direction, and what is kept of its steps: matrices with a packed column for each step of each sequence.
struct BiLSTM::Direction {
  const float *from_input, *from_state, *to_input_gate, *to_output_gate, *bias;
  const float* masks;            // of the longest sequence, or null; those of others follow
  const vector<size_t>* column;  // of x, for each packed column

  float* x;      // inputs, masked
  float* gates;  // after their nonlinearities: input gate, output gate, candidate
  float *cell, *squashed_cell;
  float* seen;  // the cell as the gates see it, masked
  // The previous step's, in the columns of the step that they influence; undefined in the first step.
  float *previous_seen, *previous_state;

  float* gradients;  // by the gates before their nonlinearities

  // What both directions share, one after the other: products need transposed weights, and steps pass on derivatives.
  float *from_state_transposed, *to_input_gate_transposed, *to_output_gate_transposed;
  float *state_gradients, *cell_gradients, *seen_gradients;  // a column for each sequence
  float *x_gradients, *from_input_transposed;

  size_t size;  // of all this, in numbers

  Direction(float* memory, unsigned which, size_t inputs, size_t units, size_t n, size_t sequences) {
    Arena arena = {memory, 0};
    for (unsigned each = 0; each < 2; ++each) {
      float* arrays[] = {arena.take(inputs * n),     arena.take(3 * units * n), arena.take(units * n), arena.take(units * n),
                         arena.take(units * n),      arena.take(units * n),     arena.take(units * n), arena.take(3 * units * n)};
      if (each != which) continue;
      float** names[] = {&x, &gates, &cell, &squashed_cell, &seen, &previous_seen, &previous_state, &gradients};
      for (size_t k = 0; k < 8; ++k) *names[k] = arrays[k];
    }
    Arena shared = arena;
    from_state_transposed = shared.take(3 * units * units);
    to_input_gate_transposed = shared.take(units * units);
    to_output_gate_transposed = shared.take(units * units);
    state_gradients = shared.take(units * sequences);
    cell_gradients = shared.take(units * sequences);
    seen_gradients = shared.take(units * sequences);
    size = shared.used;
    shared = arena;  // needed when the steps are done
    x_gradients = shared.take(inputs * n);
    from_input_transposed = shared.take(3 * units * inputs);
    size = std::max(size, shared.used);
  }
};

BiLSTM::BiLSTM(const vector<VariableIndex>& arguments, const vector<unsigned>& lengths) : Node(arguments), previous(~0u) {
  vector<size_t> by_length(lengths.size()), starts(lengths.size(), 0);
  std::iota(by_length.begin(), by_length.end(), 0);
  std::stable_sort(by_length.begin(), by_length.end(), [&](size_t a, size_t b) { return lengths[a] > lengths[b]; });
  for (size_t k = 1; k < lengths.size(); ++k) starts[k] = starts[k - 1] + lengths[k - 1];
  for (size_t t = 0, width = lengths.size(); width; ++t) {
    while (width && lengths[by_length[width - 1]] <= t) --width;
    if (!width) break;
    steps.push_back({columns[0].size(), width});
    for (size_t r = 0; r < width; ++r) {
      const size_t sequence = by_length[r];
      columns[0].push_back(starts[sequence] + t);
      columns[1].push_back(starts[sequence] + lengths[sequence] - 1 - t);
    }
  }
}

std::string BiLSTM::as_string(const vector<std::string>& arguments) const {
  return "bilstm(" + arguments[0] + ", " + std::to_string(steps.empty() ? 0 : steps[0].width) + " sequences)";
}

Dim BiLSTM::dim_forward(const vector<Dim>& xs) const {
  DYNET_ARG_CHECK(xs.size() == 11 || xs.size() == 12, "Bad number of arguments in BiLSTM: " << xs);
  inputs = xs[0].rows();
  units = xs[2].cols();
  const unsigned gates = 3 * units;
  bool right = xs[0].bd == 1 && xs[0].nd <= 2 && !columns[0].empty() && xs[0].cols() == columns[0].size();
  for (unsigned k = 1; k < 11; k += 5)
    right = right && xs[k] == Dim({gates, (unsigned)inputs}) && xs[k + 1] == Dim({gates, (unsigned)units}) &&
            xs[k + 2] == Dim({(unsigned)units, (unsigned)units}) && xs[k + 3] == xs[k + 2] && xs[k + 4] == Dim({gates});
  if (xs.size() == 12)
    right = right && xs[11].rows() == inputs + 2 * units && xs[11].cols() == steps[0].width && xs[11].bd == 2;
  DYNET_ARG_CHECK(right, "Bad dimensions in BiLSTM of " << columns[0].size() << " columns: " << xs);
  return Dim({(unsigned)(2 * units), xs[0].cols()});
}

size_t BiLSTM::aux_storage_size() const {
  return (Direction(nullptr, 0, inputs, units, columns[0].size(), steps[0].width).size + ALIGNED) * sizeof(float);
}

BiLSTM::Direction BiLSTM::direction(const vector<const Tensor*>& xs, unsigned which) const {
  const size_t line = ALIGNED * sizeof(float);
  float* memory = reinterpret_cast<float*>((reinterpret_cast<size_t>(aux_mem) + line - 1) / line * line);
  Direction lstm(memory, which, inputs, units, columns[0].size(), steps[0].width);
  const unsigned first = 1 + 5 * which;
  lstm.from_input = xs[first]->v;
  lstm.from_state = xs[first + 1]->v;
  lstm.to_input_gate = xs[first + 2]->v;
  lstm.to_output_gate = xs[first + 3]->v;
  lstm.bias = xs[first + 4]->v;
  lstm.masks = xs.size() == 12 ? xs[11]->batch_ptr(which) : nullptr;
  lstm.column = &columns[which];
  return lstm;
}

void BiLSTM::forward_impl(const vector<const Tensor*>& xs, Tensor& fx) const {
  for (unsigned which = 0; which < 2; ++which) run(direction(xs, which), *xs[0], fx.v + which * units);
}

// Computes the states of a direction, each in the upper half of a column of `states`.
void BiLSTM::run(const Direction& lstm, const Tensor& x, float* states) const {
  const size_t U = units, n = columns[0].size(), masks = inputs + 2 * U;
  for (const Step& step : steps)
    for (size_t r = 0; r < step.width; ++r) {
      const size_t column = step.start + r;
      const float* from = x.v + (*lstm.column)[column] * inputs;
      float* to = lstm.x + column * inputs;
      if (lstm.masks) {
        const float* mask = lstm.masks + r * masks;
        for (size_t k = 0; k < inputs; ++k) to[k] = from[k] * mask[k];
      } else {
        std::copy(from, from + inputs, to);
      }
      std::copy(lstm.bias, lstm.bias + 3 * U, lstm.gates + column * 3 * U);
    }
  add_product(lstm.from_input, 3 * U, lstm.x, 1, inputs, lstm.gates, 3 * U, 3 * U, n, inputs);

  for (size_t t = 0; t < steps.size(); ++t) {
    const size_t start = steps[t].start, width = steps[t].width;
    float* gates = lstm.gates + start * 3 * U;
    if (t) {
      add_product(lstm.from_state, 3 * U, lstm.previous_state + start * U, 1, U, gates, 3 * U, 3 * U, width, U);
      add_product(lstm.to_input_gate, U, lstm.previous_seen + start * U, 1, U, gates, 3 * U, U, width, U);
    }
    for (size_t r = 0; r < width; ++r) {
      float *gate = gates + r * 3 * U, *cell = lstm.cell + (start + r) * U;
      float *squashed = lstm.squashed_cell + (start + r) * U, *seen = lstm.seen + (start + r) * U;
      const float* previous_cell = t ? lstm.cell + (steps[t - 1].start + r) * U : nullptr;
      const float* mask = lstm.masks ? lstm.masks + r * masks + inputs + U : nullptr;
      for (size_t u = 0; u < U; u += WIDTH) {
        const size_t count = std::min(WIDTH, U - u);
        const Packet input_gate = logistic(load(gate + u, count)), candidate = ptanh(load(gate + 2 * U + u, count));
        Packet now = pmul(input_gate, candidate);
        if (t) {
          const Packet before = load(previous_cell + u, count);
          now = pmadd(input_gate, psub(candidate, before), before);  // (1 - gate) * cell + gate * candidate
        }
        store(gate + u, input_gate, count);
        store(gate + 2 * U + u, candidate, count);
        store(cell + u, now, count);
        store(squashed + u, ptanh(now), count);
        store(seen + u, mask ? pmul(now, load(mask + u, count)) : now, count);
      }
    }
    add_product(lstm.to_output_gate, U, lstm.seen + start * U, 1, U, gates + U, 3 * U, U, width, U);
    const Step next = t + 1 < steps.size() ? steps[t + 1] : Step{0, 0};
    for (size_t r = 0; r < width; ++r) {
      float *gate = gates + r * 3 * U + U, *state = states + (*lstm.column)[start + r] * 2 * U;
      const float* squashed = lstm.squashed_cell + (start + r) * U;
      float* seen_next = r < next.width ? lstm.previous_state + (next.start + r) * U : nullptr;
      const float* mask = lstm.masks ? lstm.masks + r * masks + inputs : nullptr;
      for (size_t u = 0; u < U; u += WIDTH) {
        const size_t count = std::min(WIDTH, U - u);
        const Packet output_gate = logistic(load(gate + u, count)), now = pmul(output_gate, load(squashed + u, count));
        store(gate + u, output_gate, count);
        store(state + u, now, count);
        if (seen_next) store(seen_next + u, mask ? pmul(now, load(mask + u, count)) : now, count);
      }
    }
    std::copy(lstm.seen + start * U, lstm.seen + (start + next.width) * U, lstm.previous_seen + next.start * U);
  }
}

// Computes lstm.gradients from the gradients of the states of a direction, each in the upper half of a column.
void BiLSTM::run_back(const Direction& lstm, const float* gradients) const {
  const size_t U = units, sequences = steps[0].width, masks = inputs + 2 * U;
  transpose(lstm.from_state, 3 * U, 3 * U, U, lstm.from_state_transposed);
  transpose(lstm.to_input_gate, U, U, U, lstm.to_input_gate_transposed);
  transpose(lstm.to_output_gate, U, U, U, lstm.to_output_gate_transposed);
  for (float* passed_on : {lstm.state_gradients, lstm.cell_gradients, lstm.seen_gradients})
    std::fill(passed_on, passed_on + sequences * U, 0.f);

  for (size_t t = steps.size(); t--;) {
    const size_t start = steps[t].start, width = steps[t].width;
    float* inner = lstm.gradients + start * 3 * U;
    for (size_t r = 0; r < width; ++r) {
      const float *outer = gradients + (*lstm.column)[start + r] * 2 * U, *squashed = lstm.squashed_cell + (start + r) * U;
      const float* gate = lstm.gates + (start + r) * 3 * U + U;
      float* to_gate = inner + r * 3 * U + U;
      float *by_state = lstm.state_gradients + r * U, *by_cell = lstm.cell_gradients + r * U;
      const float* mask = lstm.masks ? lstm.masks + r * masks + inputs : nullptr;
      for (size_t u = 0; u < U; u += WIDTH) {
        const size_t count = std::min(WIDTH, U - u);
        const Packet squash = load(squashed + u, count), output_gate = load(gate + u, count);
        Packet later = load(by_state + u, count);
        if (mask) later = pmul(later, load(mask + u, count));
        const Packet all = padd(load(outer + u, count), later);
        store(to_gate + u, pmul(pmul(all, squash), pmul(output_gate, one_minus(output_gate))), count);
        const Packet through = pmul(pmul(all, output_gate), one_minus(pmul(squash, squash)));
        store(by_cell + u, padd(load(by_cell + u, count), through), count);
      }
    }
    add_product(lstm.to_output_gate_transposed, U, inner + U, 1, 3 * U, lstm.seen_gradients, U, U, width, U);
    for (size_t r = 0; r < width; ++r) {
      const float* gate = lstm.gates + (start + r) * 3 * U;
      const float* previous_cell = t ? lstm.cell + (steps[t - 1].start + r) * U : nullptr;
      float *to_gate = inner + r * 3 * U, *by_cell = lstm.cell_gradients + r * U, *by_seen = lstm.seen_gradients + r * U;
      const float* mask = lstm.masks ? lstm.masks + r * masks + inputs + U : nullptr;
      for (size_t u = 0; u < U; u += WIDTH) {
        const size_t count = std::min(WIDTH, U - u);
        const Packet input_gate = load(gate + u, count), candidate = load(gate + 2 * U + u, count);
        Packet seen = load(by_seen + u, count);
        if (mask) seen = pmul(seen, load(mask + u, count));
        const Packet all = padd(load(by_cell + u, count), seen);
        const Packet change = t ? psub(candidate, load(previous_cell + u, count)) : candidate;
        store(to_gate + u, pmul(pmul(all, change), pmul(input_gate, one_minus(input_gate))), count);
        store(to_gate + 2 * U + u, pmul(pmul(all, input_gate), one_minus(pmul(candidate, candidate))), count);
        store(by_cell + u, pmul(all, one_minus(input_gate)), count);
      }
    }
    if (t) {
      std::fill(lstm.state_gradients, lstm.state_gradients + width * U, 0.f);
      std::fill(lstm.seen_gradients, lstm.seen_gradients + width * U, 0.f);
      add_product(lstm.from_state_transposed, U, inner, 1, 3 * U, lstm.state_gradients, U, U, width, 3 * U);
      add_product(lstm.to_input_gate_transposed, U, inner, 1, 3 * U, lstm.seen_gradients, U, U, width, U);
    }
  }
}

void BiLSTM::backward_impl(const vector<const Tensor*>& xs, const Tensor&, const Tensor& dEdf, unsigned i, Tensor& dEdxi) const {
  // The engine asks for the derivatives by one argument after another. What they share is computed when it begins.
  if (i <= previous)
    for (unsigned which = 0; which < 2; ++which) run_back(direction(xs, which), dEdf.v + which * units);
  previous = i;

  const size_t U = units, n = columns[0].size(), masks = inputs + 2 * U;
  const size_t first = steps[0].width;  // the columns of the first step, where states and cells have had no influence
  if (i == 0) {
    for (unsigned which = 0; which < 2; ++which) {
      const Direction lstm = direction(xs, which);
      std::fill(lstm.x_gradients, lstm.x_gradients + inputs * n, 0.f);
      add_transposed_product(lstm.from_input, 3 * U, lstm.gradients, 1, 3 * U, lstm.x_gradients, inputs, inputs, n, 3 * U,
                             lstm.from_input_transposed);
      for (const Step& step : steps)
        for (size_t r = 0; r < step.width; ++r) {
          const float* from = lstm.x_gradients + (step.start + r) * inputs;
          float* to = dEdxi.v + (*lstm.column)[step.start + r] * inputs;
          const float* mask = lstm.masks ? lstm.masks + r * masks : nullptr;
          for (size_t k = 0; k < inputs; ++k) to[k] += mask ? from[k] * mask[k] : from[k];
        }
    }
    return;
  }
  DYNET_ARG_CHECK(i < 11, "The masks of BiLSTM are constants, without derivatives");
  const Direction lstm = direction(xs, (i - 1) / 5);
  switch ((i - 1) % 5) {
    case 0: return add_product(lstm.gradients, 3 * U, lstm.x, inputs, 1, dEdxi.v, 3 * U, 3 * U, inputs, n);
    case 1:
      return add_product(lstm.gradients + first * 3 * U, 3 * U, lstm.previous_state + first * U, U, 1, dEdxi.v, 3 * U, 3 * U, U,
                         n - first);
    case 2:
      return add_product(lstm.gradients + first * 3 * U, 3 * U, lstm.previous_seen + first * U, U, 1, dEdxi.v, U, U, U, n - first);
    case 3: return add_product(lstm.gradients + U, 3 * U, lstm.seen, U, 1, dEdxi.v, U, U, U, n);
    case 4:
      for (size_t column = 0; column < n; ++column)
        for (size_t k = 0; k < 3 * U; ++k) dEdxi.v[k] += lstm.gradients[column * 3 * U + k];
  }
}

Expression bilstm(const vector<Expression>& arguments, const vector<unsigned>& lengths) {
  return detail::f<BiLSTM>(arguments, lengths);
}

}  // namespace dynet
