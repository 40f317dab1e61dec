#include "dynet/products.h"

#include <algorithm>

// Eigen's own products first copy both factors into blocks, which pays off for matrices of thousands of rows and columns.
// Here, a tile of c stays in registers while a strip of a, a few vectors tall, is multiplied by columns of b, without
// copies. The strip fits into the first-level cache. With AVX-512 this is faster for all matrices of a parser, otherwise
// for those of a few columns. The vectors are Eigen's "packets", which it defines for every processor.

namespace dynet {

namespace {

using Eigen::internal::ploadu;
using Eigen::internal::pmadd;
using Eigen::internal::pset1;
using Eigen::internal::pstoreu;

typedef Eigen::internal::packet_traits<float>::type Packet;

const size_t WIDTH = Eigen::internal::unpacket_traits<Packet>::size;
// A tile has 3 packets of rows. Its sums fill most of the 32 registers of AVX-512, or of the 16 of other vectors; the others
// are for a and b.
const size_t PACKETS = 3;
const size_t COLUMNS = WIDTH == 16 ? 8 : 4;
const size_t DEPTH = 256;                                  // columns of a in a strip, which has at most 48 KB
const size_t MOST_COLUMNS = WIDTH == 16 ? ~size_t(0) : 8;  // of b: beyond, Eigen was faster in measurements

// The right factor of a product: a matrix that is stored by columns or by rows.
struct Right {
  const float* data;
  size_t row_stride, column_stride;  // from one row to the next, and from one column to the next

  Right from(size_t row, size_t column) const {
    return {data + row * row_stride + column * column_stride, row_stride, column_stride};
  }
};

// c += a b for P packets of rows and C columns.
template <size_t P, size_t C>
inline void add_tile(const float* a, size_t lda, Right b, float* c, size_t ldc, size_t depth) {
  Packet sums[P][C];
  for (size_t p = 0; p < P; ++p)
    for (size_t j = 0; j < C; ++j) sums[p][j] = ploadu<Packet>(c + p * WIDTH + j * ldc);
  for (size_t k = 0; k < depth; ++k, a += lda, b.data += b.row_stride) {
    Packet left[P];
    for (size_t p = 0; p < P; ++p) left[p] = ploadu<Packet>(a + p * WIDTH);
    for (size_t j = 0; j < C; ++j) {
      const Packet right = pset1<Packet>(b.data[j * b.column_stride]);
      for (size_t p = 0; p < P; ++p) sums[p][j] = pmadd(left[p], right, sums[p][j]);
    }
  }
  for (size_t p = 0; p < P; ++p)
    for (size_t j = 0; j < C; ++j) pstoreu(c + p * WIDTH + j * ldc, sums[p][j]);
}

// c += a b for P packets of rows and n columns: tiles of C columns, then one of the remaining n % C columns.
template <size_t P, size_t C>
struct Strip {
  static void add(const float* a, size_t lda, Right b, float* c, size_t ldc, size_t n, size_t depth) {
    for (; n >= C; n -= C, b = b.from(0, C), c += C * ldc) add_tile<P, C>(a, lda, b, c, ldc, depth);
    if (n) Strip<P, C - 1>::add(a, lda, b, c, ldc, n, depth);
  }
};

template <size_t P>
struct Strip<P, 0> {
  static void add(const float*, size_t, Right, float*, size_t, size_t, size_t) {}
};

void add_strip(size_t packets, const float* a, size_t lda, Right b, float* c, size_t ldc, size_t n, size_t depth) {
  switch (packets) {
    case 1: return Strip<1, COLUMNS>::add(a, lda, b, c, ldc, n, depth);
    case 2: return Strip<2, COLUMNS>::add(a, lda, b, c, ldc, n, depth);
    case 3: return Strip<3, COLUMNS>::add(a, lda, b, c, ldc, n, depth);
  }
}

// c += a b for the last rows of a and c, fewer than a packet. The product is computed for a whole packet of rows, which
// begins with earlier rows of a, if there are any, and otherwise ends with zeros. Only the last rows are added to c.
void add_last_rows(size_t rows, bool has_earlier_rows, const float* a, size_t lda, Right b, float* c, size_t ldc, size_t n,
                   size_t depth) {
  float padded[WIDTH * DEPTH], sums[WIDTH * COLUMNS] = {};
  const size_t skipped = has_earlier_rows ? WIDTH - rows : 0;
  if (has_earlier_rows) {
    a -= skipped;
  } else {
    std::fill(padded, padded + WIDTH * depth, 0.f);
    for (size_t k = 0; k < depth; ++k) std::copy(a + k * lda, a + k * lda + rows, padded + k * WIDTH);
    a = padded, lda = WIDTH;
  }
  for (size_t first = 0; first < n; first += COLUMNS) {
    const size_t columns = std::min(COLUMNS, n - first);
    float* to = c + first * ldc;
    for (size_t j = 0; j < columns; ++j) std::copy(to + j * ldc, to + j * ldc + rows, sums + j * WIDTH + skipped);
    add_strip(1, a, lda, b.from(0, first), sums, WIDTH, columns, depth);
    for (size_t j = 0; j < columns; ++j) std::copy(sums + j * WIDTH + skipped, sums + j * WIDTH + skipped + rows, to + j * ldc);
  }
}

void add_strips(const ConstMatrixRef& a, Right b, MatrixRef c) {
  const size_t m = c.rows(), n = c.cols(), depth = a.cols(), lda = a.outerStride(), ldc = c.outerStride();
  const size_t last = m % WIDTH, whole = m - last;
  for (size_t k = 0; k < depth; k += DEPTH) {
    const size_t terms = std::min(DEPTH, depth - k);
    const float* columns = a.data() + k * lda;
    for (size_t i = 0; i < whole; i += PACKETS * WIDTH)
      add_strip(std::min(PACKETS, (whole - i) / WIDTH), columns + i, lda, b.from(k, 0), c.data() + i, ldc, n, terms);
    if (last) add_last_rows(last, whole > 0, columns + whole, lda, b.from(k, 0), c.data() + whole, ldc, n, terms);
  }
}

}  // namespace

void add_ab(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef c) {
  if (size_t(c.cols()) > MOST_COLUMNS)
    c.noalias() += a * b;
  else
    add_strips(a, {b.data(), 1, size_t(b.outerStride())}, c);
}

void add_abt(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef c) {
  if (size_t(c.cols()) > MOST_COLUMNS)
    c.noalias() += a * b.transpose();
  else
    add_strips(a, {b.data(), size_t(b.outerStride()), 1}, c);
}

void add_atb(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef c, float* space) {
  if (size_t(c.cols()) > MOST_COLUMNS) {
    c.noalias() += a.transpose() * b;
  } else {
    transpose(a, space);
    add_ab(Eigen::Map<Eigen::MatrixXf>(space, a.cols(), a.rows()), b, c);
  }
}

void transpose(const ConstMatrixRef& a, float* out) {
  const size_t rows = a.rows(), columns = a.cols(), lda = a.outerStride();
  const size_t whole_rows = rows - rows % WIDTH, whole_columns = columns - columns % WIDTH;
  for (size_t j = 0; j < whole_columns; j += WIDTH)
    for (size_t i = 0; i < whole_rows; i += WIDTH) {
      Eigen::internal::PacketBlock<Packet, WIDTH> block;
      for (size_t k = 0; k < WIDTH; ++k) block.packet[k] = ploadu<Packet>(a.data() + i + (j + k) * lda);
      Eigen::internal::ptranspose(block);
      for (size_t k = 0; k < WIDTH; ++k) pstoreu(out + (i + k) * columns + j, block.packet[k]);
    }
  for (size_t j = 0; j < columns; ++j)
    for (size_t i = j < whole_columns ? whole_rows : 0; i < rows; ++i) out[i * columns + j] = a(i, j);
}

}  // namespace dynet
