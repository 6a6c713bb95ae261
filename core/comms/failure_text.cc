#include "core/comms/failure_text.h"

#include <array>
#include <csignal>
#include <span>

#include "core/comms/scan.h"

namespace muster {
namespace {

using What = FailureMeaning::What;
using Kind = WitnessKind;

struct Row {
  std::string_view mark;
  std::string_view second;  // must be there too; empty: nothing
  What what;
  Kind kind = Kind::exception;
};

// Order matters: what quotes another failure stands before it.
constexpr std::array kExceptions = {
    Row{"Watchdog caught collective operation timeout", "", What::witness,
        Kind::collective_timeout},
    Row{"timed out in blocking wait", "", What::witness, Kind::collective_timeout},
    // Sizes read from memory that an aborted collective never filled.
    Row{"more than 1EB", "", What::consequence},
    Row{"out of memory", "CUDA", What::witness, Kind::gpu_oom},
    Row{"OutOfMemoryError", "", What::witness, Kind::gpu_oom},
    Row{"uncorrectable ECC", "", What::witness, Kind::gpu_lost},
    Row{"uncorrectable NVLink", "", What::witness, Kind::gpu_lost},
    Row{"NCCL communicator was aborted", "", What::consequence},
    Row{"is setting up NCCL communicator", "", What::consequence},
    Row{"remote process exited or there was a network error", "", What::witness,
        Kind::network_error},
    Row{"ncclRemoteError", "", What::witness, Kind::network_error},
    Row{"unhandled system error", "", What::witness, Kind::network_error},
    Row{"unhandled cuda error", "", What::witness, Kind::cuda_error},
    // Set up wrongly, and every rank says so.
    Row{"NCCL error in", "", What::note},
    Row{"CUDA error: ", "", What::witness, Kind::cuda_error},
    Row{"cudaError", "", What::witness, Kind::cuda_error},
    Row{"Forward order differs", "", What::note},
    Row{"monitoredBarrier", "", What::note},
    Row{"Detected mismatch between collectives", "", What::note},
    Row{"expects same model across all ranks", "", What::consequence},
    Row{"inconsistent", "params", What::consequence},
    Row{"waiting for clients", "", What::note},
    Row{"client socket has timed out", "", What::note},
    Row{"Rendezvous", "Error", What::note},
    Row{"DistStoreError", "", What::consequence},
    Row{"DistNetworkError", "", What::consequence},
    Row{"recvValue failed", "", What::consequence},
    Row{"recvVector failed", "", What::consequence},
    Row{"sendBytes failed", "", What::consequence},
    Row{"wait timeout after", "keys", What::consequence},
    Row{"Broken pipe", "", What::consequence},
    Row{"Connection reset by peer", "", What::consequence},
    Row{"ConnectionResetError", "", What::consequence},
    Row{"Connection closed by peer", "", What::witness, Kind::network_error},
    Row{"connectFullMesh failed", "", What::witness, Kind::network_error},
    Row{"Socket Timeout", "", What::consequence},
    // The launcher's own words for the end of a rank, and ordinary ends.
    Row{"ChildFailedError", "", What::consequence},
    Row{"SignalException", "", What::note},
    Row{"SystemExit", "", What::consequence},
    Row{"DistBackendError", "", What::note},
};

constexpr std::array kNcclWarnings = {
    Row{"out of memory", "", What::witness, Kind::gpu_oom},
    Row{"Cuda failure", "", What::witness, Kind::cuda_error},
    Row{"socketProgress: Connection closed by remote peer", "", What::witness, Kind::network_error},
    // Flushed: the queue had failed before.
    Row{"Got completion from peer", "status=IBV_WC_WR_FLUSH_ERR", What::consequence},
    Row{"Got completion from peer", "status=5 ", What::consequence},
    Row{"Got completion from peer", "error 5,", What::consequence},
    Row{"Got completion from peer", "", What::witness, Kind::network_error},
    Row{"Got async error event", "port active", What::consequence},
    Row{"Got async error event", "", What::witness, Kind::network_error},
    Row{"async fatal event", "", What::witness, Kind::network_error},
    Row{"Call to ibv_", "failed", What::witness, Kind::network_error},
    Row{"collective mismatch error", "", What::note},
    Row{"Message truncated", "", What::note},
    Row{"Mismatched NCCL version", "", What::note},
    Row{"Duplicate GPU detected", "", What::note},
    Row{"Multiple Ranks are using the same GPU", "", What::note},
};

FailureMeaning find(std::span<const Row> rows, std::string_view text, FailureMeaning otherwise) {
  for (const Row& row : rows) {
    if (text.find(row.mark) == std::string_view::npos) continue;
    if (text.find(row.second) == std::string_view::npos) continue;
    return {row.what, row.kind, std::nullopt};
  }
  return otherwise;
}

}  // namespace

FailureMeaning meaning_of_exception(std::string_view text) {
  if (text.starts_with("KeyboardInterrupt")) return {What::witness, Kind::killed, SIGINT};
  return find(kExceptions, text, {What::witness, Kind::exception, std::nullopt});
}

FailureMeaning meaning_of_nccl_warning(std::string_view text) {
  return find(kNcclWarnings, text, {What::consequence, Kind::exception, std::nullopt});
}

FailureMeaning meaning_of_signal(int signal) {
  const bool from_outside = signal == SIGKILL || signal == SIGTERM || signal == SIGINT;
  return {What::witness, from_outside ? Kind::killed : Kind::crashed, signal};
}

}  // namespace muster
