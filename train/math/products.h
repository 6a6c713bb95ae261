#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "train/math/number.h"

namespace muster::train {

// How A and B lie in memory: "n" as they are multiplied, "t" the other way round.
//   nt: C = A B^T, A m x k, B n x k     activations times a weight as it is stored
//   nn: C = A B,   A m x k, B k x n     the gradient of activations
//   tn: C = A^T B, A k x m, B k x n     the gradient of a weight
enum class Form : std::uint8_t { nt, nn, tn };

struct ProductShape {
  Form form = Form::nt;
  std::size_t m = 0, n = 0, k = 0;
  std::size_t lda = 0, ldb = 0, ldc = 0;  // distance of rows in memory, elements
  bool add = false;                       // C += instead of C =

  bool operator==(const ProductShape&) const = default;
};

// Matrix products of one thread: f32 and bf16 by oneDNN, f64 in plain loops. Sums of a product of
// bf16 are f32; where the processor cannot multiply bf16 they are widened first. The first product
// of a shape makes its code, later ones find it.
class Products {
 public:
  Products();
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

  void run(const ProductShape& shape, const double* a, const double* b, double* c);
  void run(const ProductShape& shape, const float* a, const float* b, float* c);
  void run(const ProductShape& shape, const Bf16* a, const Bf16* b, float* c);
  void run(const ProductShape& shape, const Bf16* a, const Bf16* b, Bf16* c);

  // 2 m n k of each product so far.
  std::uint64_t flops() const { return flops_; }

 private:
  struct Library;  // of oneDNN, whose header stays in the .cc

  std::unique_ptr<Library> library_;
  Buffer<double> transposed_;
  Buffer<float> wide_a_, wide_b_, wide_c_;
  std::uint64_t flops_ = 0;
};

}  // namespace muster::train
