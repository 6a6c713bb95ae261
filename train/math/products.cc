#include "train/math/products.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/check.h"
#include "base/hash_mix.h"
#include "train/math/row_kernels.h"
#include "train/model/bf16.h"

// Of the OpenMP run time that oneDNN brings; its header is only there for one of our compilers.
extern "C" void omp_set_num_threads(int count);

namespace muster::train {
namespace {

void demand(dnnl_status_t status, const char* what) {
  MUSTER_CHECK(status == dnnl_success, what);
}

// A rank computes on one thread: its neighbours have the other cores. The setting is a thread's
// own.
void stay_on_this_thread() {
  thread_local const bool set = [] {
    omp_set_num_threads(1);
    return true;
  }();
  MUSTER_CHECK(set, "set above");
}

dnnl_dim_t dim(std::size_t value) {
  return static_cast<dnnl_dim_t>(value);
}

// rows x columns with one element after the other in rows, or in columns where `turned`.
dnnl_memory_desc_t matrix(std::size_t rows, std::size_t columns, std::size_t ld, bool turned,
                          dnnl_data_type_t type) {
  const dnnl_dims_t dims = {dim(rows), dim(columns)};
  const dnnl_dims_t strides = {turned ? 1 : dim(ld), turned ? dim(ld) : 1};
  dnnl_memory_desc_t out;
  demand(dnnl_memory_desc_init_by_strides(&out, 2, dims, type, strides), "a matrix");
  return out;
}

// A product that was made ready: a primitive, and not dnnl_sgemm(), whose code takes the stack
// pointer for its data, so that a signal that comes meanwhile writes its frame into our matrices.
class ReadyProduct {
 public:
  ReadyProduct(dnnl_engine_t engine, const ProductShape& shape, dnnl_data_type_t factors,
               dnnl_data_type_t result) {
    const auto a = matrix(shape.m, shape.k, shape.lda, shape.form == Form::tn, factors);
    const auto b = matrix(shape.k, shape.n, shape.ldb, shape.form == Form::nt, factors);
    const auto c = matrix(shape.m, shape.n, shape.ldc, false, result);
    dnnl_matmul_desc_t matmul;
    demand(dnnl_matmul_desc_init(&matmul, &a, &b, nullptr, &c), "a matrix product");
    dnnl_primitive_attr_t attributes = nullptr;
    dnnl_post_ops_t after = nullptr;
    demand(dnnl_primitive_attr_create(&attributes), "attributes");
    demand(dnnl_post_ops_create(&after), "post-ops");
    if (shape.add) demand(dnnl_post_ops_append_sum(after, 1.0F), "a sum");
    demand(dnnl_primitive_attr_set_post_ops(attributes, after), "post-ops");
    dnnl_primitive_desc_t description = nullptr;
    if (dnnl_primitive_desc_create(&description, &matmul, attributes, engine, nullptr) ==
        dnnl_success) {
      demand(dnnl_primitive_create(&primitive_, description), "a primitive");
      dnnl_primitive_desc_destroy(description);
      const std::array places = {&a, &b, &c};
      for (std::size_t i = 0; i < 3; ++i) {
        demand(dnnl_memory_create(&memory_[i], places[i], engine, DNNL_MEMORY_NONE), "memory");
      }
    }
    dnnl_post_ops_destroy(after);
    dnnl_primitive_attr_destroy(attributes);
  }
  ~ReadyProduct() {
    for (dnnl_memory_t memory : memory_) dnnl_memory_destroy(memory);
    dnnl_primitive_destroy(primitive_);
  }
  ReadyProduct(const ReadyProduct&) = delete;
  ReadyProduct& operator=(const ReadyProduct&) = delete;

  bool possible() const { return primitive_ != nullptr; }

  template <typename T>
  void run(dnnl_stream_t stream, const T* a, const T* b, void* c) const {
    demand(dnnl_memory_set_data_handle(memory_[0], const_cast<T*>(a)), "memory");
    demand(dnnl_memory_set_data_handle(memory_[1], const_cast<T*>(b)), "memory");
    demand(dnnl_memory_set_data_handle(memory_[2], c), "memory");
    const dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_SRC, memory_[0]}, {DNNL_ARG_WEIGHTS, memory_[1]}, {DNNL_ARG_DST, memory_[2]}};
    demand(dnnl_primitive_execute(primitive_, stream, 3, arguments), "a matrix product");
  }

 private:
  dnnl_primitive_t primitive_ = nullptr;
  std::array<dnnl_memory_t, 3> memory_ = {};
};

struct ReadyKey {
  ProductShape shape;
  bool wide_factors, wide_result;  // f32, otherwise bf16
  bool operator==(const ReadyKey&) const = default;
};

struct HashOfKey {
  std::size_t operator()(const ReadyKey& key) const {
    const ProductShape& s = key.shape;
    std::uint64_t hash =
        mix(kHashSeed, static_cast<std::uint64_t>(s.form) + (s.add ? 4 : 0) +
                           (key.wide_factors ? 8 : 0) + (key.wide_result ? 16 : 0));
    for (const std::size_t value : {s.m, s.n, s.k, s.lda, s.ldb, s.ldc}) hash = mix(hash, value);
    return hash;
  }
};

// `count` numbers of each of `rows` rows, wide and dense.
void widen(const Bf16* from, std::size_t rows, std::size_t count, std::size_t ld,
           Buffer<float>& to) {
  to.resize(std::max(to.size(), rows * count));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < count; ++j) to[i * count + j] = from_bf16(from[i * ld + j].bits);
  }
}

}  // namespace

struct Products::Library {
  Library() {
    demand(dnnl_engine_create(&engine, dnnl_cpu, 0), "the engine of oneDNN");
    demand(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "its stream");
  }
  ~Library() {
    ready.clear();
    dnnl_stream_destroy(stream);
    dnnl_engine_destroy(engine);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const ReadyProduct& find(const ReadyKey& key) {
    const auto [at, fresh] = ready.try_emplace(key);
    if (fresh) {
      at->second =
          std::make_unique<ReadyProduct>(engine, key.shape, key.wide_factors ? dnnl_f32 : dnnl_bf16,
                                         key.wide_result ? dnnl_f32 : dnnl_bf16);
    }
    return *at->second;
  }

  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;
  std::unordered_map<ReadyKey, std::unique_ptr<ReadyProduct>, HashOfKey> ready;
};

Products::Products() : library_(std::make_unique<Library>()) {}
Products::~Products() = default;

void Products::run(const ProductShape& shape, const double* a, const double* b, double* c) {
  std::size_t ldb = shape.ldb;
  if (shape.form == Form::nt) {
    transposed_.resize(std::max(transposed_.size(), shape.k * shape.n));
    for (std::size_t j = 0; j < shape.n; ++j) {
      for (std::size_t p = 0; p < shape.k; ++p) transposed_[p * shape.n + j] = b[j * ldb + p];
    }
    b = transposed_.data();
    ldb = shape.n;
  }
  plain_product()(shape.form == Form::tn, shape.m, shape.n, shape.k, a, shape.lda, b, ldb, c,
                  shape.ldc, shape.add);
  flops_ += 2 * shape.m * shape.n * shape.k;
}

void Products::run(const ProductShape& shape, const float* a, const float* b, float* c) {
  stay_on_this_thread();
  const ReadyProduct& product = library_->find({shape, true, true});
  MUSTER_CHECK(product.possible(), "every processor multiplies f32");
  product.run(library_->stream, a, b, c);
  flops_ += 2 * shape.m * shape.n * shape.k;
}

void Products::run(const ProductShape& shape, const Bf16* a, const Bf16* b, float* c) {
  stay_on_this_thread();
  const ReadyProduct& product = library_->find({shape, false, true});
  if (product.possible()) {
    product.run(library_->stream, a, b, c);
    flops_ += 2 * shape.m * shape.n * shape.k;
    return;
  }
  const bool a_turned = shape.form == Form::tn, b_turned = shape.form == Form::nt;
  ProductShape wide = shape;
  wide.lda = a_turned ? shape.m : shape.k;
  wide.ldb = b_turned ? shape.k : shape.n;
  widen(a, a_turned ? shape.k : shape.m, wide.lda, shape.lda, wide_a_);
  widen(b, b_turned ? shape.n : shape.k, wide.ldb, shape.ldb, wide_b_);
  run(wide, wide_a_.data(), wide_b_.data(), c);
}

void Products::run(const ProductShape& shape, const Bf16* a, const Bf16* b, Bf16* c) {
  stay_on_this_thread();
  const ReadyProduct& product = library_->find({shape, false, false});
  if (product.possible()) {
    product.run(library_->stream, a, b, c);
    flops_ += 2 * shape.m * shape.n * shape.k;
    return;
  }
  ProductShape wide = shape;
  wide.ldc = shape.n;
  if (shape.add) {
    widen(c, shape.m, shape.n, shape.ldc, wide_c_);
  } else {
    wide_c_.resize(std::max(wide_c_.size(), shape.m * shape.n));
  }
  run(wide, a, b, wide_c_.data());
  for (std::size_t i = 0; i < shape.m; ++i) {
    for (std::size_t j = 0; j < shape.n; ++j) {
      c[i * shape.ldc + j].bits = to_bf16(wide_c_[i * shape.n + j]);
    }
  }
}

}  // namespace muster::train
