#ifndef DYNET_PRODUCTS_H_
#define DYNET_PRODUCTS_H_

// Products of single-precision matrices of the sizes that a parser has: a few hundred rows, few or many columns.

#include <Eigen/Core>

namespace dynet {

// Matrices stored by columns, which need not be adjacent: a whole matrix, or some rows and columns of one.
typedef Eigen::Ref<Eigen::MatrixXf, 0, Eigen::OuterStride<>> MatrixRef;
typedef Eigen::Ref<const Eigen::MatrixXf, 0, Eigen::OuterStride<>> ConstMatrixRef;

// c += a b
void add_ab(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef c);

// c += a b'
void add_abt(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef c);

// c += a' b. `space` has room for a'.
void add_atb(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef c, float* space);

// out = a', with adjacent columns
void transpose(const ConstMatrixRef& a, float* out);

}  // namespace dynet

#endif
