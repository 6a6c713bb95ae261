#pragma once

#include <cstddef>
#include <cstdint>

#include "train/math/number.h"

namespace muster::train {

// Heads of one group within rows of a matrix: token t has its heads one after the other, each
// `head_dim` long, from row t on, and rows are `stride` apart. A group of query heads shares one
// key head (which is a group of one).
struct HeadRows {
  std::size_t tokens = 0, heads = 0, head_dim = 0, stride = 0;
};

// One block of the triangle of attention: queries of tokens [first, first + tokens), `heads` a
// token, against keys [0, keys). A query of token t sees the keys up to t.
struct ScoreBlock {
  std::size_t first = 0, tokens = 0, heads = 0, keys = 0;
};

// What is done row by row between matrix products. Sums, statistics and what is added up are S;
// `+=` in a comment means that the result is added. Matrices are dense unless HeadRows says
// otherwise.
template <typename T>
struct RowKernels {
  using S = Sum<T>;

  // Root mean square norm as Hugging Face computes it: x / rms in S, rounded to T, times the
  // weight. `inverse`: 1 / rms of each row.
  void (*norm)(const T* x, const T* weight, T* y, S* inverse, std::size_t rows, std::size_t width,
               S epsilon);
  // The same y once more, from `inverse`.
  void (*norm_again)(const T* x, const T* weight, const S* inverse, T* y, std::size_t rows,
                     std::size_t width);
  // dx += and dweight +=.
  void (*norm_backward)(const T* x, const T* weight, const S* inverse, const S* dy, S* dx,
                        S* dweight, std::size_t rows, std::size_t width);

  // Norm over each head, then its halves turned by the angles of its position. `cosines` and
  // `sines`: tokens x head_dim / 2. y is dense: tokens x heads x head_dim.
  void (*turn)(const HeadRows& shape, const T* x, const T* weight, const S* cosines, const S* sines,
               T* y, S epsilon);
  // dy is dense, dx lies like x; dweight +=.
  void (*turn_backward)(const HeadRows& shape, const T* x, const T* weight, const S* cosines,
                        const S* sines, const S* dy, T* dx, S* dweight, S epsilon);

  // p = exp(scale * score - greatest), 0 for keys that a query does not see; log_sum: of the row's
  // exp(scale * score); inverse_sum: 1 / sum of p. p may be `scores`.
  void (*soften)(const ScoreBlock& block, const S* scores, T* p, S* log_sum, S* inverse_sum,
                 S scale);
  // p = exp(scale * score - log_sum), dscore = scale * p * (dp - delta). p may be `scores`, dscore
  // may be `dp`.
  void (*soften_backward)(const ScoreBlock& block, const S* scores, const S* log_sum, const S* dp,
                          const S* delta, T* p, T* dscore, S scale);
  // Dense rows of heads, each times its factor (1 where there is none), to where HeadRows says.
  void (*spread)(const HeadRows& shape, const S* dense, const S* factors, T* to);
  // Heads of `x` one after the other, and delta = x . y of each.
  void (*collect)(const HeadRows& shape, const T* x, const T* y, T* dense, S* delta);

  // gate_up: rows of 2 x width, first the gates. s = silu(gate) * up.
  void (*swiglu)(const T* gate_up, T* s, std::size_t rows, std::size_t width);
  // dgate_up lies like gate_up; s once more.
  void (*swiglu_backward)(const T* gate_up, const T* ds, T* dgate_up, T* s, std::size_t rows,
                          std::size_t width);

  // Sum of -ln p(label) over rows with a label (-1: none), and the gradient of `scale` times that
  // sum. dlogits may be `logits`.
  double (*classify)(const S* logits, const std::int32_t* labels, T* dlogits, std::size_t rows,
                     std::size_t width, S scale);

  void (*add)(const S* x, S* to, std::size_t count);  // to +=
  void (*round)(const S* x, T* y, std::size_t count);
};

// For the instructions that this processor has. T: double, float, Bf16.
template <typename T>
const RowKernels<T>& row_kernels();

// C = A B (transposed_a: A is k x m), or C += of it, in plain loops for the comparisons in f64; B
// has rows of n. `ld`: distance of rows.
using PlainProduct = void (*)(bool transposed_a, std::size_t m, std::size_t n, std::size_t k,
                              const double* a, std::size_t lda, const double* b, std::size_t ldb,
                              double* c, std::size_t ldc, bool add);
PlainProduct plain_product();

}  // namespace muster::train
