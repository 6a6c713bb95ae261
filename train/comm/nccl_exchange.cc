#include "train/comm/nccl_exchange.h"

#include <cuda_runtime.h>
#include <fmt/core.h>
#include <nccl.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "edge/os/clock.h"
#include "train/comm/exchange.h"
#include "train/comm/gpu_sum.h"
#include "train/comm/ordered_communicator.h"

namespace muster::train {
namespace {

// Between looks at a transfer: a gather of a large layer takes milliseconds.
constexpr Duration kLook = std::chrono::microseconds(50);

Error gpu_error(std::string_view while_doing, cudaError_t error) {
  return make_error(Errc::unavailable,
                    fmt::format("{}: {}", while_doing, cudaGetErrorString(error)));
}

// Memory of the GPU that grows as it is needed.
class GpuScratch {
 public:
  GpuScratch() = default;
  ~GpuScratch() { cudaFree(data_); }
  GpuScratch(const GpuScratch&) = delete;
  GpuScratch& operator=(const GpuScratch&) = delete;

  // Nothing where the GPU has no room.
  void* at_least(std::size_t bytes) {
    if (bytes <= size_) return data_;
    cudaFree(std::exchange(data_, nullptr));
    size_ = cudaMalloc(&data_, bytes) == cudaSuccess ? bytes : 0;
    return data_;
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

class NcclExchange final : public Exchange {
 public:
  // `beside`: the same ranks over TCP.
  static Result<std::unique_ptr<Exchange>> connect(std::unique_ptr<Exchange> beside, int device,
                                                   std::optional<MonoTime> until);
  ~NcclExchange() override;

  std::span<const int> ranks() const override { return beside_->ranks(); }
  std::size_t place() const override { return beside_->place(); }
  bool meet(const CallSignature& own, std::optional<MonoTime> until,
            std::span<CallSignature> all) override;
  bool stall() override { return beside_->stall(); }
  bool gather(const std::byte* shard, std::byte* full, std::size_t bytes) override;
  bool gather_words(const std::byte* own, std::byte* all, std::size_t bytes) override {
    return beside_->gather(own, all, bytes);
  }
  bool all_reduce(std::byte* data, std::size_t elements, Dtype dtype) override;
  bool reduce(const std::byte* full, std::byte* sum, std::size_t elements, Dtype wire) override;
  Result<std::unique_ptr<Exchange>> split(std::span<const std::size_t> members) override;
  void fail(CollectiveFailure failure) override { beside_->fail(std::move(failure)); }
  std::optional<CollectiveFailure> failure() const override { return beside_->failure(); }
  void leave() override { beside_->leave(); }

 private:
  NcclExchange(std::unique_ptr<Exchange> beside, int device)
      : beside_(std::move(beside)), device_(device) {}
  Status open(std::optional<MonoTime> until);
  bool settle();                   // what was begun on the communicator is accepted
  bool run(ncclResult_t started);  // until the stream has done it
  bool give_up(std::string_view why);
  bool in_time();

  std::unique_ptr<Exchange> beside_;
  const int device_;
  ncclComm_t nccl_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t done_ = nullptr;
  GpuScratch sent_, received_;
  std::optional<MonoTime> until_;
  std::string call_ = "joining";
};

Result<std::unique_ptr<Exchange>> NcclExchange::connect(std::unique_ptr<Exchange> beside,
                                                        int device, std::optional<MonoTime> until) {
  std::unique_ptr<NcclExchange> out(new NcclExchange(std::move(beside), device));
  const Status opened = out->open(until);
  if (!opened) {
    out->fail({CollectiveFailure::Kind::aborted, {}, opened.error().context});
    return opened.error();
  }
  return std::unique_ptr<Exchange>(std::move(out));
}

Status NcclExchange::open(std::optional<MonoTime> until) {
  until_ = until;
  cudaError_t gpu = cudaSetDevice(device_);
  if (gpu == cudaSuccess) gpu = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
  if (gpu == cudaSuccess) gpu = cudaEventCreateWithFlags(&done_, cudaEventDisableTiming);
  // All say what they call themselves, the first counts; also where this rank has no GPU, so that
  // nobody waits for it.
  ncclUniqueId own = {};
  if (gpu == cudaSuccess && place() == 0) ncclGetUniqueId(&own);
  std::vector<ncclUniqueId> all(ranks().size());
  const bool told = beside_->gather(reinterpret_cast<const std::byte*>(&own),
                                    reinterpret_cast<std::byte*>(all.data()), sizeof own);
  if (gpu != cudaSuccess) return gpu_error(fmt::format("GPU {}", device_), gpu);
  if (!told) return make_error(Errc::unavailable, "the ranks no longer agree");
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const ncclResult_t begun = ncclCommInitRankConfig(&nccl_, static_cast<int>(ranks().size()),
                                                    all[0], static_cast<int>(place()), &config);
  if (begun != ncclSuccess && begun != ncclInProgress) {
    return make_error(Errc::unavailable, fmt::format("NCCL: {}", ncclGetErrorString(begun)));
  }
  if (settle()) return {};
  const auto why = failure();
  return make_error(Errc::unavailable, why ? why->text : "NCCL did not start");
}

NcclExchange::~NcclExchange() {
  cudaSetDevice(device_);
  if (nccl_ != nullptr && failure()) {
    ncclCommAbort(nccl_);
  } else if (nccl_ != nullptr) {
    ncclCommFinalize(nccl_);
    until_ = system_clock().mono() + std::chrono::seconds(10);
    if (settle())
      ncclCommDestroy(nccl_);
    else
      ncclCommAbort(nccl_);
  }
  if (done_ != nullptr) cudaEventDestroy(done_);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

bool NcclExchange::give_up(std::string_view why) {
  const int own = ranks()[place()];
  fail({CollectiveFailure::Kind::aborted, {}, fmt::format("rank {}: {}: {}", own, call_, why)});
  return false;
}

// All had come to the call: whose link or GPU it is, nobody here can tell.
bool NcclExchange::in_time() {
  if (!until_ || system_clock().mono() < *until_) return true;
  fail({CollectiveFailure::Kind::deadline,
        {},
        fmt::format("rank {}: all ranks came to {}, and the GPUs did not finish it in time",
                    ranks()[place()], call_)});
  return false;
}

bool NcclExchange::settle() {
  for (;;) {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t asked = ncclCommGetAsyncError(nccl_, &state);
    if (asked != ncclSuccess) return give_up(ncclGetErrorString(asked));
    if (state == ncclSuccess) return true;
    if (state != ncclInProgress) return give_up(ncclGetErrorString(state));
    if (failure() || !in_time()) return false;
    std::this_thread::sleep_for(kLook);
  }
}

bool NcclExchange::run(ncclResult_t started) {
  if (started != ncclSuccess && started != ncclInProgress) {
    return give_up(ncclGetErrorString(started));
  }
  if (!settle()) return false;
  cudaError_t gpu = cudaEventRecord(done_, stream_);
  while (gpu == cudaSuccess) {
    gpu = cudaEventQuery(done_);
    if (gpu == cudaSuccess) return true;
    if (gpu != cudaErrorNotReady) break;
    gpu = cudaSuccess;
    if (!settle() || failure() || !in_time()) return false;
    std::this_thread::sleep_for(kLook);
  }
  return give_up(cudaGetErrorString(gpu));
}

bool NcclExchange::meet(const CallSignature& own, std::optional<MonoTime> until,
                        std::span<CallSignature> all) {
  until_ = until;
  call_ = describe_call(own);
  cudaSetDevice(device_);  // of the order thread
  return beside_->meet(own, until, all);
}

bool NcclExchange::gather(const std::byte* shard, std::byte* full, std::size_t bytes) {
  if (bytes == 0) return !failure();
  return run(ncclAllGather(shard, full, bytes, ncclUint8, nccl_, stream_));
}

bool NcclExchange::all_reduce(std::byte* data, std::size_t elements, Dtype dtype) {
  if (elements == 0) return !failure();
  const ncclDataType_t type = dtype == Dtype::f64 ? ncclFloat64 : ncclFloat32;
  return run(ncclAllReduce(data, data, elements, type, ncclSum, nccl_, stream_));
}

bool NcclExchange::reduce(const std::byte* full, std::byte* sum, std::size_t elements, Dtype wire) {
  if (elements == 0) return !failure();
  const std::size_t whole = elements * ranks().size();
  const void* from = full;
  if (wire == Dtype::bf16) {
    void* rounded = sent_.at_least(whole * sizeof(std::uint16_t));
    if (rounded == nullptr) return give_up("no room on the GPU");
    gpu_round_bf16(reinterpret_cast<const float*>(full), static_cast<std::uint16_t*>(rounded),
                   whole, stream_);
    from = rounded;
  }
  void* part = received_.at_least(elements * dtype_bytes(wire));
  if (part == nullptr) return give_up("no room on the GPU");
  const ncclDataType_t type = wire == Dtype::f64   ? ncclFloat64
                              : wire == Dtype::f32 ? ncclFloat32
                                                   : ncclBfloat16;
  if (!run(ncclReduceScatter(from, part, elements, type, ncclSum, nccl_, stream_))) return false;
  switch (wire) {
    case Dtype::f64:
      gpu_add(reinterpret_cast<double*>(sum), static_cast<const double*>(part), elements, stream_);
      break;
    case Dtype::f32:
      gpu_add(reinterpret_cast<float*>(sum), static_cast<const float*>(part), elements, stream_);
      break;
    case Dtype::bf16:
      gpu_add_bf16(reinterpret_cast<float*>(sum), static_cast<const std::uint16_t*>(part), elements,
                   stream_);
  }
  return run(ncclSuccess);
}

Result<std::unique_ptr<Exchange>> NcclExchange::split(std::span<const std::size_t> members) {
  auto beside = beside_->split(members);
  if (!beside) return beside.error();
  return connect(std::move(*beside), device_, until_);
}

}  // namespace

Result<std::unique_ptr<Communicator>> join_gpus(const JoinRequest& request,
                                                const CommOptions& options, int device) {
  const MonoTime until = system_clock().mono() + options.join_deadline;
  auto beside = exchange_over_network(request, options.join_deadline);
  if (!beside) return beside.error();
  auto exchange = NcclExchange::connect(std::move(*beside), device, until);
  if (!exchange) return exchange.error();
  return std::unique_ptr<Communicator>(
      std::make_unique<OrderedCommunicator>(std::move(*exchange), options, "world"));
}

}  // namespace muster::train
