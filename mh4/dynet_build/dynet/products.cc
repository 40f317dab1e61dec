#include "dynet/products.h"

#include <algorithm>
#include <Eigen/Core>

// Eigen has the vectors of every processor, as "packets". Its own products first copy both factors into blocks, which pays for
// matrices of thousands of rows and columns. Here a tile of c stays in registers while a tall narrow strip of a, which fits into
// the first-level cache, is multiplied by the columns of b, in place. With AVX-512 this is faster for matrices of all sizes that a
// parser has, otherwise for those of a few columns.

namespace dynet {

namespace {

using Eigen::internal::pload;
using Eigen::internal::ploadu;
using Eigen::internal::pmadd;
using Eigen::internal::pset1;
using Eigen::internal::pstoreu;

typedef Eigen::internal::packet_traits<float>::type Packet;

const size_t WIDTH = Eigen::internal::unpacket_traits<Packet>::size;
// The sums of a tile fill most of the registers (32 in AVX-512, otherwise 16), yet leave some for a and b.
const int PACKETS = 3;
const int COLUMNS = WIDTH == 16 ? 8 : 4;
const size_t STRIP = PACKETS * WIDTH;  // rows of a strip
const size_t DEPTH = 256;              // terms of a sum before the next column: a strip of a takes at most 48 KB
const size_t FEW = WIDTH == 16 ? ~size_t(0) : 8;  // columns up to which this is the faster way, as measured

// c += a * b for P packets of rows and C columns.
template <int P, int C>
inline void add_tile(const float* a, size_t lda, const float* b, size_t row, size_t column, float* c, size_t ldc, size_t depth) {
  Packet sums[P][C];
  for (int p = 0; p < P; ++p)
    for (int j = 0; j < C; ++j) sums[p][j] = ploadu<Packet>(c + p * WIDTH + j * ldc);
  for (size_t k = 0; k < depth; ++k, a += lda, b += row) {
    Packet left[P];
    for (int p = 0; p < P; ++p) left[p] = ploadu<Packet>(a + p * WIDTH);
    for (int j = 0; j < C; ++j) {
      const Packet right = pset1<Packet>(b[j * column]);
      for (int p = 0; p < P; ++p) sums[p][j] = pmadd(left[p], right, sums[p][j]);
    }
  }
  for (int p = 0; p < P; ++p)
    for (int j = 0; j < C; ++j) pstoreu(c + p * WIDTH + j * ldc, sums[p][j]);
}

// c += a * b for P packets of rows and any number of columns: C at a time, then the rest.
template <int P, int C>
struct Strip {
  static void add(const float* a, size_t lda, const float* b, size_t row, size_t column, float* c, size_t ldc, size_t n,
                  size_t depth) {
    for (; n >= C; n -= C, b += C * column, c += C * ldc) add_tile<P, C>(a, lda, b, row, column, c, ldc, depth);
    if (n) Strip<P, C - 1>::add(a, lda, b, row, column, c, ldc, n, depth);
  }
};

template <int P>
struct Strip<P, 0> {
  static void add(const float*, size_t, const float*, size_t, size_t, float*, size_t, size_t, size_t) {}
};

void add_strip(size_t packets, const float* a, size_t lda, const float* b, size_t row, size_t column, float* c, size_t ldc, size_t n,
               size_t depth) {
  switch (packets) {
    case 1: return Strip<1, COLUMNS>::add(a, lda, b, row, column, c, ldc, n, depth);
    case 2: return Strip<2, COLUMNS>::add(a, lda, b, row, column, c, ldc, n, depth);
    case 3: return Strip<3, COLUMNS>::add(a, lda, b, row, column, c, ldc, n, depth);
  }
}

// The same for the last rows of a, too few for a packet. It begins with rows before them, if there are any, or is a copy that is
// filled up with zeros; either way, only the sums of the last rows go into c.
void add_last_rows(size_t rows, bool others, const float* a, size_t lda, const float* b, size_t row, size_t column, float* c,
                   size_t ldc, size_t n, size_t depth) {
  float copy[WIDTH * DEPTH], sums[WIDTH * COLUMNS] = {};
  const size_t skipped = others ? WIDTH - rows : 0;
  if (others) {
    a -= skipped;
  } else {
    std::fill(copy, copy + WIDTH * depth, 0.f);
    for (size_t k = 0; k < depth; ++k) std::copy(a + k * lda, a + k * lda + rows, copy + k * WIDTH);
    a = copy, lda = WIDTH;
  }
  for (size_t j = 0; j < n; j += COLUMNS) {
    const size_t some = std::min<size_t>(COLUMNS, n - j);
    for (size_t i = 0; i < some; ++i) std::copy(c + (j + i) * ldc, c + (j + i) * ldc + rows, sums + i * WIDTH + skipped);
    add_strip(1, a, lda, b + j * column, row, column, sums, WIDTH, some, depth);
    for (size_t i = 0; i < some; ++i)
      std::copy(sums + i * WIDTH + skipped, sums + i * WIDTH + skipped + rows, c + (j + i) * ldc);
  }
}

typedef Eigen::Map<const Eigen::MatrixXf, 0, Eigen::OuterStride<>> Matrix;

template <class A>
void add_product_of_eigen(const A& a, const float* b, size_t row, size_t column, float* c, size_t ldc, size_t n) {
  Eigen::Map<Eigen::MatrixXf, 0, Eigen::OuterStride<>> sums(c, a.rows(), n, Eigen::OuterStride<>(ldc));
  if (row == 1)
    sums.noalias() += a * Matrix(b, a.cols(), n, Eigen::OuterStride<>(column));
  else
    sums.noalias() += a * Matrix(b, n, a.cols(), Eigen::OuterStride<>(row)).transpose();
}

}  // namespace

void add_product(const float* a, size_t lda, const float* b, size_t row, size_t column, float* c, size_t ldc, size_t m, size_t n,
                 size_t depth) {
  if (n > FEW) return add_product_of_eigen(Matrix(a, m, depth, Eigen::OuterStride<>(lda)), b, row, column, c, ldc, n);
  for (; depth; a += std::min(depth, DEPTH) * lda, b += std::min(depth, DEPTH) * row, depth -= std::min(depth, DEPTH)) {
    const size_t terms = std::min(depth, DEPTH), rest = m % WIDTH, whole = m - rest;
    for (size_t i = 0; i < whole; i += STRIP)
      add_strip(std::min(whole - i, STRIP) / WIDTH, a + i, lda, b, row, column, c + i, ldc, n, terms);
    if (rest) add_last_rows(rest, whole > 0, a + whole, lda, b, row, column, c + whole, ldc, n, terms);
  }
}

void add_transposed_product(const float* a, size_t lda, const float* b, size_t row, size_t column, float* c, size_t ldc, size_t m,
                            size_t n, size_t depth, float* space) {
  if (n > FEW) return add_product_of_eigen(Matrix(a, depth, m, Eigen::OuterStride<>(lda)).transpose(), b, row, column, c, ldc, n);
  transpose(a, lda, depth, m, space);
  add_product(space, m, b, row, column, c, ldc, m, n, depth);
}

void transpose(const float* a, size_t lda, size_t rows, size_t columns, float* out) {
  const size_t whole_rows = rows - rows % WIDTH, whole_columns = columns - columns % WIDTH;
  for (size_t j = 0; j < whole_columns; j += WIDTH)
    for (size_t i = 0; i < whole_rows; i += WIDTH) {
      Eigen::internal::PacketBlock<Packet, WIDTH> block;
      for (size_t k = 0; k < WIDTH; ++k) block.packet[k] = ploadu<Packet>(a + i + (j + k) * lda);
      Eigen::internal::ptranspose(block);
      for (size_t k = 0; k < WIDTH; ++k) pstoreu(out + (i + k) * columns + j, block.packet[k]);
    }
  for (size_t j = 0; j < columns; ++j)
    for (size_t i = j < whole_columns ? whole_rows : 0; i < rows; ++i) out[i * columns + j] = a[i + j * lda];
}

}  // namespace dynet
