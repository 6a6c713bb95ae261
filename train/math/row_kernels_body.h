#pragma once

// The body of row_kernels_v1.cc, _v3.cc and _v4.cc, compiled for different processors; which one
// runs is decided at run time. Nothing here may leave an inline function behind that the linker
// could take for the whole program: all names are local, and only types come from headers.

#include "train/math/kernel_set.h"

#define MUSTER_SIMD _Pragma("omp simd")
#define MUSTER_SIMD_SUM(variable) MUSTER_PRAGMA(omp simd reduction(+ : variable))
#define MUSTER_SIMD_MOST(variable) MUSTER_PRAGMA(omp simd reduction(max : variable))
#define MUSTER_PRAGMA(words) _Pragma(#words)

namespace muster::train {
namespace {

using std::size_t;

inline double get(double x) {
  return x;
}
inline float get(float x) {
  return x;
}
inline float get(Bf16 x) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(x.bits) << 16);
}

inline void put(double x, double& to) {
  to = x;
}
inline void put(float x, float& to) {
  to = x;
}
inline void put(float x, Bf16& to) {  // as to_bf16() in train/model/bf16.h; a test compares
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  to.bits = static_cast<std::uint16_t>(x == x ? rounded : (bits >> 16) | 0x40U);
}

// What is left of x where it is kept as a T.
template <typename T>
inline Sum<T> kept(Sum<T> x) {
  T stored;
  put(x, stored);
  return get(stored);
}

// e^x as a polynomial of the rest that x leaves beside a multiple of ln 2: loops of it become
// vector instructions. Relative error 2e-7; results stay normal numbers (x is held to [-87, 88]).
inline float exp_of(float x) {
  x = x < -87.0F ? -87.0F : x;
  x = x > 88.0F ? 88.0F : x;
  const float shifted = x * 1.44269504F + 12582912.0F;  // 1.5 * 2^23: its low bits are the multiple
  const float n = shifted - 12582912.0F;
  float r = x - n * 0.693359375F;
  r = r + n * 2.12194440e-4F;
  float p = 1.0F / 5040;
  p = p * r + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const std::uint32_t power = __builtin_bit_cast(std::uint32_t, shifted) << 23;
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, p) + power);
}

// The same to 3e-16.
inline double exp_of(double x) {
  x = x < -708.0 ? -708.0 : x;
  x = x > 709.0 ? 709.0 : x;
  const double shifted = x * 1.4426950408889634 + 6755399441055744.0;  // 1.5 * 2^52
  const double n = shifted - 6755399441055744.0;
  double r = x - n * 6.93145751953125e-1;
  r = r - n * 1.42860682030941723212e-6;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const std::uint64_t power = __builtin_bit_cast(std::uint64_t, shifted) << 52;
  return __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, p) + power);
}

inline float root(float x) {
  return __builtin_sqrtf(x);
}
inline double root(double x) {
  return __builtin_sqrt(x);
}
inline float log_of(float x) {
  return __builtin_logf(x);
}
inline double log_of(double x) {
  return __builtin_log(x);
}

// ---- norms --------------------------------------------------------------------------------------

template <typename T>
inline Sum<T> inverse_rms(const T* x, size_t width, Sum<T> epsilon) {
  Sum<T> sum = 0;
  MUSTER_SIMD_SUM(sum)
  for (size_t i = 0; i < width; ++i) sum += get(x[i]) * get(x[i]);
  return 1 / root(sum / static_cast<Sum<T>>(width) + epsilon);
}

template <typename T>
inline void scaled_row(const T* x, const T* weight, Sum<T> inverse, T* y, size_t width) {
  MUSTER_SIMD
  for (size_t i = 0; i < width; ++i) put(kept<T>(get(x[i]) * inverse) * get(weight[i]), y[i]);
}

template <typename T>
void norm(const T* x, const T* weight, T* y, Sum<T>* inverse, size_t rows, size_t width,
          Sum<T> epsilon) {
  for (size_t row = 0; row < rows; ++row, x += width, y += width) {
    inverse[row] = inverse_rms(x, width, epsilon);
    scaled_row(x, weight, inverse[row], y, width);
  }
}

template <typename T>
void norm_again(const T* x, const T* weight, const Sum<T>* inverse, T* y, size_t rows,
                size_t width) {
  for (size_t row = 0; row < rows; ++row, x += width, y += width) {
    scaled_row(x, weight, inverse[row], y, width);
  }
}

template <typename T>
void norm_backward(const T* x, const T* weight, const Sum<T>* inverse, const Sum<T>* dy, Sum<T>* dx,
                   Sum<T>* dweight, size_t rows, size_t width) {
  for (size_t row = 0; row < rows; ++row, x += width, dy += width, dx += width) {
    const Sum<T> scale = inverse[row];
    Sum<T> sum = 0;
    MUSTER_SIMD_SUM(sum)
    for (size_t i = 0; i < width; ++i) sum += dy[i] * get(weight[i]) * get(x[i]);
    const Sum<T> back = sum * scale * scale * scale / static_cast<Sum<T>>(width);
    MUSTER_SIMD
    for (size_t i = 0; i < width; ++i) {
      dweight[i] += dy[i] * get(x[i]) * scale;
      dx[i] += dy[i] * get(weight[i]) * scale - get(x[i]) * back;
    }
  }
}

// ---- heads --------------------------------------------------------------------------------------

template <typename T>
void turn(const HeadRows& shape, const T* x, const T* weight, const Sum<T>* cosines,
          const Sum<T>* sines, T* y, Sum<T> epsilon) {
  using S = Sum<T>;
  const size_t half = shape.head_dim / 2;
  for (size_t token = 0; token < shape.tokens; ++token, cosines += half, sines += half) {
    for (size_t head = 0; head < shape.heads; ++head, y += shape.head_dim) {
      const T* in = x + token * shape.stride + head * shape.head_dim;
      const S inverse = inverse_rms(in, shape.head_dim, epsilon);
      MUSTER_SIMD
      for (size_t i = 0; i < half; ++i) {
        const S u = kept<T>(kept<T>(get(in[i]) * inverse) * get(weight[i]));
        const S v = kept<T>(kept<T>(get(in[i + half]) * inverse) * get(weight[i + half]));
        put(u * cosines[i] - v * sines[i], y[i]);
        put(v * cosines[i] + u * sines[i], y[i + half]);
      }
    }
  }
}

// One head of turn_backward().
template <typename T>
inline void turn_back(size_t half, const T* x, const T* weight, const Sum<T>* c, const Sum<T>* s,
                      const Sum<T>* dy, T* dx, Sum<T>* dweight, Sum<T> inverse) {
  using S = Sum<T>;
  S sum = 0;
  MUSTER_SIMD_SUM(sum)
  for (size_t i = 0; i < half; ++i) {
    sum += (dy[i] * c[i] + dy[i + half] * s[i]) * get(weight[i]) * get(x[i]) +
           (dy[i + half] * c[i] - dy[i] * s[i]) * get(weight[i + half]) * get(x[i + half]);
  }
  const S back = sum * inverse * inverse * inverse / static_cast<S>(2 * half);
  MUSTER_SIMD
  for (size_t i = 0; i < half; ++i) {
    const S u = (dy[i] * c[i] + dy[i + half] * s[i]) * inverse;
    const S v = (dy[i + half] * c[i] - dy[i] * s[i]) * inverse;
    const S first = get(x[i]), second = get(x[i + half]);
    dweight[i] += u * first;
    dweight[i + half] += v * second;
    put(u * get(weight[i]) - first * back, dx[i]);
    put(v * get(weight[i + half]) - second * back, dx[i + half]);
  }
}

template <typename T>
void turn_backward(const HeadRows& shape, const T* x, const T* weight, const Sum<T>* cosines,
                   const Sum<T>* sines, const Sum<T>* dy, T* dx, Sum<T>* dweight, Sum<T> epsilon) {
  const size_t half = shape.head_dim / 2;
  for (size_t token = 0; token < shape.tokens; ++token, cosines += half, sines += half) {
    for (size_t head = 0; head < shape.heads; ++head, dy += shape.head_dim) {
      const size_t at = token * shape.stride + head * shape.head_dim;
      turn_back(half, x + at, weight, cosines, sines, dy, dx + at, dweight,
                inverse_rms(x + at, shape.head_dim, epsilon));
    }
  }
}

template <typename T>
void spread(const HeadRows& shape, const Sum<T>* dense, const Sum<T>* factors, T* to) {
  for (size_t token = 0; token < shape.tokens; ++token, to += shape.stride) {
    for (size_t head = 0; head < shape.heads; ++head, dense += shape.head_dim) {
      const Sum<T> factor = factors == nullptr ? 1 : factors[token * shape.heads + head];
      T* out = to + head * shape.head_dim;
      MUSTER_SIMD
      for (size_t i = 0; i < shape.head_dim; ++i) put(dense[i] * factor, out[i]);
    }
  }
}

template <typename T>
void collect(const HeadRows& shape, const T* x, const T* y, T* dense, Sum<T>* delta) {
  for (size_t token = 0; token < shape.tokens; ++token, x += shape.stride, y += shape.stride) {
    for (size_t head = 0; head < shape.heads; ++head, dense += shape.head_dim, ++delta) {
      const T* a = x + head * shape.head_dim;
      const T* b = y + head * shape.head_dim;
      Sum<T> sum = 0;
      MUSTER_SIMD_SUM(sum)
      for (size_t i = 0; i < shape.head_dim; ++i) {
        sum += get(a[i]) * get(b[i]);
        dense[i] = a[i];
      }
      *delta = sum;
    }
  }
}

// ---- softmax ------------------------------------------------------------------------------------

template <typename T>
void soften(const ScoreBlock& block, const Sum<T>* scores, T* p, Sum<T>* log_sum,
            Sum<T>* inverse_sum, Sum<T> scale) {
  using S = Sum<T>;
  const size_t rows = block.tokens * block.heads;
  for (size_t row = 0; row < rows; ++row, scores += block.keys, p += block.keys) {
    const size_t seen = block.first + row / block.heads + 1;
    S most = scores[0];
    MUSTER_SIMD_MOST(most)
    for (size_t i = 0; i < seen; ++i) most = most > scores[i] ? most : scores[i];
    const S offset = most * scale;
    S sum = 0;
    MUSTER_SIMD_SUM(sum)
    for (size_t i = 0; i < seen; ++i) {
      const S e = exp_of(scores[i] * scale - offset);
      sum += e;
      put(e, p[i]);
    }
    for (size_t i = seen; i < block.keys; ++i) put(S{0}, p[i]);
    log_sum[row] = log_of(sum) + offset;
    inverse_sum[row] = 1 / sum;
  }
}

template <typename T>
void soften_backward(const ScoreBlock& block, const Sum<T>* scores, const Sum<T>* log_sum,
                     const Sum<T>* dp, const Sum<T>* delta, T* p, T* dscore, Sum<T> scale) {
  using S = Sum<T>;
  const size_t rows = block.tokens * block.heads, keys = block.keys;
  for (size_t row = 0; row < rows; ++row) {
    const size_t seen = block.first + row / block.heads + 1, at = row * keys;
    const S offset = log_sum[row], drop = delta[row];
    MUSTER_SIMD
    for (size_t i = 0; i < seen; ++i) {
      const S e = exp_of(scores[at + i] * scale - offset);
      const S d = scale * e * (dp[at + i] - drop);
      put(e, p[at + i]);
      put(d, dscore[at + i]);
    }
    for (size_t i = seen; i < keys; ++i) put(S{0}, p[at + i]);
    for (size_t i = seen; i < keys; ++i) put(S{0}, dscore[at + i]);
  }
}

// The gradient of one row; its -ln p(label).
template <typename T>
inline double classify_row(const Sum<T>* logits, size_t label, T* dlogits, size_t width,
                           Sum<T> scale) {
  using S = Sum<T>;
  S most = logits[0];
  MUSTER_SIMD_MOST(most)
  for (size_t i = 0; i < width; ++i) most = most > logits[i] ? most : logits[i];
  const S wanted = logits[label] - most;
  S sum = 0;
  MUSTER_SIMD_SUM(sum)
  for (size_t i = 0; i < width; ++i) sum += exp_of(logits[i] - most);
  const S factor = scale / sum;
  MUSTER_SIMD
  for (size_t i = 0; i < width; ++i) put(exp_of(logits[i] - most) * factor, dlogits[i]);
  put(exp_of(wanted) * factor - scale, dlogits[label]);
  return static_cast<double>(log_of(sum) - wanted);
}

template <typename T>
double classify(const Sum<T>* logits, const std::int32_t* labels, T* dlogits, size_t rows,
                size_t width, Sum<T> scale) {
  double loss = 0;
  for (size_t row = 0; row < rows; ++row, logits += width, dlogits += width) {
    if (labels[row] >= 0) {
      loss += classify_row(logits, static_cast<size_t>(labels[row]), dlogits, width, scale);
      continue;
    }
    for (size_t i = 0; i < width; ++i) put(Sum<T>{0}, dlogits[i]);
  }
  return loss;
}

// ---- the rest -----------------------------------------------------------------------------------

template <typename T>
void swiglu(const T* gate_up, T* s, size_t rows, size_t width) {
  using S = Sum<T>;
  for (size_t row = 0; row < rows; ++row, gate_up += 2 * width, s += width) {
    const T* up = gate_up + width;
    MUSTER_SIMD
    for (size_t i = 0; i < width; ++i) {
      const S g = get(gate_up[i]);
      put(kept<T>(g / (1 + exp_of(-g))) * get(up[i]), s[i]);
    }
  }
}

template <typename T>
void swiglu_backward(const T* gate_up, const T* ds, T* dgate_up, T* s, size_t rows, size_t width) {
  using S = Sum<T>;
  for (size_t row = 0; row < rows; ++row, ds += width, s += width) {
    const T* gate = gate_up + row * 2 * width;
    T* dgate = dgate_up + row * 2 * width;
    MUSTER_SIMD
    for (size_t i = 0; i < width; ++i) {
      const S g = get(gate[i]), u = get(gate[i + width]), d = get(ds[i]);
      const S open = 1 / (1 + exp_of(-g)), silu = g * open;
      put(kept<T>(silu) * u, s[i]);
      put(d * silu, dgate[i + width]);
      put(d * u * (open + silu * (1 - open)), dgate[i]);
    }
  }
}

template <typename S>
void add(const S* x, S* to, size_t count) {
  MUSTER_SIMD
  for (size_t i = 0; i < count; ++i) to[i] += x[i];
}

template <typename T>
void round(const Sum<T>* x, T* y, size_t count) {
  MUSTER_SIMD
  for (size_t i = 0; i < count; ++i) put(x[i], y[i]);
}

// ---- products in f64 ----------------------------------------------------------------------------

struct Strip {
  const double* a;
  size_t row_step, depth_step;
  const double* b;
  size_t ldb;
  double* c;
  size_t ldc;
};

constexpr size_t kRows = 4, kColumns = 16;

// kRows x kColumns numbers of C, held in registers over all of k.
inline void full_tile(const Strip& at, size_t k, bool add_up) {
  double sums[kRows][kColumns] = {};
  for (size_t p = 0; p < k; ++p) {
    const double* b = at.b + p * at.ldb;
    for (size_t i = 0; i < kRows; ++i) {
      const double a = at.a[i * at.row_step + p * at.depth_step];
      MUSTER_SIMD
      for (size_t j = 0; j < kColumns; ++j) sums[i][j] += a * b[j];
    }
  }
  for (size_t i = 0; i < kRows; ++i) {
    double* c = at.c + i * at.ldc;
    for (size_t j = 0; j < kColumns; ++j) c[j] = add_up ? c[j] + sums[i][j] : sums[i][j];
  }
}

inline void rest_of_tile(const Strip& at, size_t rows, size_t columns, size_t k, bool add_up) {
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (size_t p = 0; p < k; ++p) {
        sum += at.a[i * at.row_step + p * at.depth_step] * at.b[p * at.ldb + j];
      }
      double& c = at.c[i * at.ldc + j];
      c = add_up ? c + sum : sum;
    }
  }
}

void product(bool transposed_a, size_t m, size_t n, size_t k, const double* a, size_t lda,
             const double* b, size_t ldb, double* c, size_t ldc, bool add_up) {
  const size_t row_step = transposed_a ? 1 : lda, depth_step = transposed_a ? lda : 1;
  for (size_t j = 0; j < n; j += kColumns) {
    for (size_t i = 0; i < m; i += kRows) {
      const Strip at{a + i * row_step, row_step, depth_step, b + j, ldb, c + i * ldc + j, ldc};
      const size_t rows = m - i < kRows ? m - i : kRows;
      const size_t columns = n - j < kColumns ? n - j : kColumns;
      if (rows == kRows && columns == kColumns) {
        full_tile(at, k, add_up);
      } else {
        rest_of_tile(at, rows, columns, k, add_up);
      }
    }
  }
}

template <typename T>
constexpr RowKernels<T> kKernels = {
    norm<T>,          norm_again<T>, norm_backward<T>,   turn<T>,
    turn_backward<T>, soften<T>,     soften_backward<T>, spread<T>,
    collect<T>,       swiglu<T>,     swiglu_backward<T>, classify<T>,
    add<Sum<T>>,      round<T>};

constexpr KernelSet kKernelSet = {kKernels<double>, kKernels<float>, kKernels<Bf16>, product};

}  // namespace
}  // namespace muster::train
