#include "app/read_stream.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "base/limits.h"

namespace muster {
namespace {

class Stream {
 public:
  Stream(storage::ReadQueue& queue, const StreamTask& task, Clock& clock, StreamSignals& signals)
      : queue_(queue), task_(task), clock_(clock), signals_(signals), slots_(task.depth) {}

  Result<storage::StreamRun> read() {
    next_ = task_.segment.begin;
    run_.first_start = clock_.mono();
    until_ = run_.first_start + task_.length;
    for (std::uint32_t slot = 0; slot < task_.depth; ++slot) {
      if (Status issued = issue(slot); !issued) return issued.error();
    }
    std::vector<storage::ReadQueue::Done> done;
    while (in_flight_ > 0) {
      done.clear();
      // Of a queue that does not answer nothing can be waited for.
      if (Status waited = queue_.wait(done); !waited) return waited.error();
      const MonoTime now = clock_.mono();
      for (const auto& one : done) {
        --in_flight_;
        take(one, now);
      }
      for (const auto& one : done) {
        if (Status issued = issue(one.slot); !issued) return issued.error();
      }
    }
    if (fault_) return *fault_;
    return std::move(run_);
  }

 private:
  struct Slot {
    MonoTime start{};
    std::uint64_t offset = 0;
  };

  bool over() const {
    if (fault_ || signals_.stop.load(std::memory_order_relaxed)) return true;
    if (task_.once && next_ >= task_.segment.end) return true;
    return issued_ > 0 && clock_.mono() >= until_;
  }

  Status issue(std::uint32_t slot) {
    if (over()) return {};
    if (next_ >= task_.segment.end) next_ = task_.segment.begin;
    slots_[slot] = {clock_.mono(), next_};
    next_ += storage::kBlockBytes;
    ++in_flight_;
    ++issued_;
    return queue_.submit(slot, slots_[slot].offset);
  }

  void take(const storage::ReadQueue::Done& done, MonoTime now) {
    const Slot& slot = slots_[done.slot];
    if (done.result <= 0) {
      if (!fault_) fault_ = fault_of(done.result, slot.offset);
      return;
    }
    const auto bytes = static_cast<std::uint64_t>(done.result);
    run_.last_end = now;
    run_.bytes += bytes;
    run_.short_reads += bytes < storage::kBlockBytes ? 1 : 0;
    const std::int64_t latency = (now - slot.start).count();
    if (run_.latencies_ns.size() < limits::kStreamLatencies) {
      run_.latencies_ns.push_back(latency);
    } else {
      run_.latencies_ns[run_.reads % limits::kStreamLatencies] = latency;
    }
    ++run_.reads;
    signals_.bytes.fetch_add(bytes, std::memory_order_relaxed);
    signals_.ended.fetch_add(1, std::memory_order_relaxed);
  }

  static Error fault_of(std::int64_t result, std::uint64_t offset) {
    if (result == 0) {
      return make_error(Errc::corrupt, fmt::format("the file ended at byte {}: it was made shorter "
                                                   "meanwhile",
                                                   offset));
    }
    const auto number = static_cast<int>(-result);
    const Errc code = number == EINVAL ? Errc::unsupported : Errc::unavailable;
    return make_error(code, fmt::format("reading at byte {}: {}", offset, std::strerror(number)));
  }

  storage::ReadQueue& queue_;
  const StreamTask& task_;
  Clock& clock_;
  StreamSignals& signals_;
  std::vector<Slot> slots_;
  storage::StreamRun run_;
  std::optional<Error> fault_;
  MonoTime until_{};
  std::uint64_t next_ = 0, issued_ = 0;
  std::uint32_t in_flight_ = 0;
};

}  // namespace

Result<storage::StreamRun> read_stream(storage::ReadQueue& queue, const StreamTask& task,
                                       Clock& clock, StreamSignals& signals) {
  return Stream(queue, task, clock, signals).read();
}

}  // namespace muster
