#include "train/optim/adamw.h"

#include <cmath>

#include "base/check.h"
#include "train/model/bf16.h"

namespace muster::train {
namespace {

template <typename T>
struct Factors {
  T scale, beta1, rest1, beta2, rest2, kept, rate, root, epsilon;
};

template <typename T>
struct Pointers {
  T *master, *first, *second, *gradient;
  std::uint16_t* low;
};

template <typename T>
Factors<T> factors_of(const AdamW& adamw, const AdamWUpdate& update, bool decays) {
  const auto number = static_cast<double>(update.number);
  const double correction1 = 1 - std::pow(adamw.beta1, number);
  const double correction2 = 1 - std::pow(adamw.beta2, number);
  const double decay = decays ? update.learning_rate * adamw.weight_decay : 0;
  return {static_cast<T>(update.gradient_scale),
          static_cast<T>(adamw.beta1),
          static_cast<T>(1 - adamw.beta1),
          static_cast<T>(adamw.beta2),
          static_cast<T>(1 - adamw.beta2),
          static_cast<T>(1 - decay),
          static_cast<T>(update.learning_rate / correction1),
          static_cast<T>(1 / std::sqrt(correction2)),
          static_cast<T>(adamw.epsilon)};
}

// The compiler makes vectors of it (options of this file in CMakeLists.txt); no two operations are
// fused, so that the width of the vectors changes no bit.
template <typename T, bool kLow>
[[gnu::always_inline]] inline void pass(const Factors<T>& f, const Pointers<T>& at,
                                        std::uint64_t elements) {
  T* __restrict master = at.master;
  T* __restrict first = at.first;
  T* __restrict second = at.second;
  T* __restrict gradient = at.gradient;
  std::uint16_t* __restrict low = at.low;
  for (std::uint64_t i = 0; i < elements; ++i) {
    const T g = gradient[i] * f.scale;
    const T m = f.beta1 * first[i] + f.rest1 * g;
    const T v = f.beta2 * second[i] + f.rest2 * (g * g);
    const T w = master[i] * f.kept - f.rate * (m / (std::sqrt(v) * f.root + f.epsilon));
    gradient[i] = 0;
    first[i] = m;
    second[i] = v;
    master[i] = w;
    if constexpr (kLow) low[i] = to_bf16(static_cast<float>(w));
  }
}

template <typename T, bool kLow>
void narrow(const Factors<T>& f, const Pointers<T>& at, std::uint64_t elements) {
  pass<T, kLow>(f, at, elements);
}

#if defined(__x86_64__)
template <typename T, bool kLow>
[[gnu::target("avx2")]] void wide(const Factors<T>& f, const Pointers<T>& at,
                                  std::uint64_t elements) {
  pass<T, kLow>(f, at, elements);
}

bool has_wide() {
  static const bool kHas = __builtin_cpu_supports("avx2") != 0;
  return kHas;
}
#endif

template <typename T, bool kLow>
void run_pass(const Factors<T>& f, const Pointers<T>& at, std::uint64_t elements) {
#if defined(__x86_64__)
  if (has_wide()) return wide<T, kLow>(f, at, elements);
#endif
  narrow<T, kLow>(f, at, elements);
}

template <typename T>
void apply_typed(const AdamW& adamw, const AdamWUpdate& update, const AdamWRun& run) {
  const auto factors = factors_of<T>(adamw, update, run.decays);
  const Pointers<T> at{reinterpret_cast<T*>(run.master), reinterpret_cast<T*>(run.first_moment),
                       reinterpret_cast<T*>(run.second_moment), reinterpret_cast<T*>(run.gradient),
                       reinterpret_cast<std::uint16_t*>(run.low)};
  if (run.low != nullptr) return run_pass<T, true>(factors, at, run.elements);
  run_pass<T, false>(factors, at, run.elements);
}

}  // namespace

void apply(const AdamW& adamw, const AdamWUpdate& update, const AdamWRun& run) {
  MUSTER_CHECK(update.number >= 1, "updates are counted from 1");
  MUSTER_CHECK(run.dtype != Dtype::bf16, "sums are not kept in bf16");
  if (run.dtype == Dtype::f64) return apply_typed<double>(adamw, update, run);
  apply_typed<float>(adamw, update, run);
}

}  // namespace muster::train
