#ifndef DYNET_PRODUCTS_H_
#define DYNET_PRODUCTS_H_

// Products of single-precision matrices of the sizes that a parser has: a few hundred rows, few or many columns.

#include <cstddef>

namespace dynet {

// c += a * b, with m rows, n columns and sums of `depth` terms. a and c are stored by columns, `lda` and `ldc` numbers apart; the
// element of b in row k and column j is b[k * row + j * column], so that b may be stored by columns or by rows.
void add_product(const float* a, size_t lda, const float* b, size_t row, size_t column, float* c, size_t ldc, size_t m, size_t n,
                 size_t depth);

// c += a' * b, where a has `depth` rows and m columns; b and c as above. `space` has room for depth * m numbers.
void add_transposed_product(const float* a, size_t lda, const float* b, size_t row, size_t column, float* c, size_t ldc, size_t m,
                            size_t n, size_t depth, float* space);

// out = a', where a has `rows` rows and `columns` columns, and out is stored by columns of `columns` numbers.
void transpose(const float* a, size_t lda, size_t rows, size_t columns, float* out);

}  // namespace dynet

#endif
