#include "tests/support/faulty_disk.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>

#include "core/storage/read_plan.h"

namespace muster::testing_support {

struct FaultyDisk::State {
  DiskFaults faults;
  FakeClock* clock = nullptr;
  mutable std::mutex mutex;
  std::condition_variable released;
  bool hangs = false;
  double resident = 0;
  std::size_t fio_runs = 0;
  std::vector<std::string> asked;

  void ask(std::string what) {
    const std::lock_guard lock(mutex);
    asked.push_back(std::move(what));
  }
};

namespace {

using State = FaultyDisk::State;

class Queue final : public storage::ReadQueue {
 public:
  Queue(std::shared_ptr<State> state, bool cached) : state_(std::move(state)), cached_(cached) {}

  std::string_view engine() const override { return "faulty"; }
  Status submit(std::uint32_t slot, std::uint64_t offset) override {
    flight_.push_back({slot, offset});
    return {};
  }
  Status wait(std::vector<Done>& done) override {
    std::unique_lock lock(state_->mutex);
    state_->released.wait(lock, [this] { return !state_->hangs; });
    const auto [slot, offset] = flight_.front();
    flight_.pop_front();
    const DiskFaults& faults = state_->faults;
    if (state_->clock != nullptr) state_->clock->advance(faults.read_time);
    std::int64_t result = static_cast<std::int64_t>(storage::kBlockBytes);
    if (faults.every_result != INT64_MIN) result = faults.every_result;
    if (const auto it = faults.results.find(offset); it != faults.results.end()) {
      result = it->second;
    }
    if (cached_ && result > 0) {
      const double share = static_cast<double>(result) / static_cast<double>(faults.bytes);
      state_->resident = std::min(faults.most_resident, state_->resident + share);
    }
    done.push_back({slot, result});
    return {};
  }

 private:
  std::shared_ptr<State> state_;
  bool cached_;
  std::deque<std::pair<std::uint32_t, std::uint64_t>> flight_;
};

class Target final : public storage::ReadTarget {
 public:
  explicit Target(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::uint64_t bytes() const override { return state_->faults.bytes; }
  std::string path() const override { return "/faulty"; }
  Result<std::unique_ptr<storage::ReadQueue>> open(bool direct, std::uint32_t depth) override {
    state_->ask(fmt::format("open {} {}", direct ? "direct" : "buffered", depth));
    const DiskFaults& faults = state_->faults;
    if (direct && faults.open_direct) return *faults.open_direct;
    if (depth > 1 && faults.open_deep) return *faults.open_deep;
    return std::make_unique<Queue>(state_, !direct || faults.direct_is_cached);
  }
  Result<double> residency(std::uint64_t) override {
    const std::lock_guard lock(state_->mutex);
    if (state_->faults.residency) return *state_->faults.residency;
    return state_->resident;
  }
  Status drop_cache() override {
    state_->ask("drop");
    const std::lock_guard lock(state_->mutex);
    if (state_->faults.drop) return *state_->faults.drop;
    state_->resident = std::min(state_->resident, state_->faults.left_after_drop);
    return {};
  }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace

FaultyDisk::FaultyDisk(DiskFaults faults, FakeClock* clock) : state_(std::make_shared<State>()) {
  state_->hangs = faults.hangs;
  state_->faults = std::move(faults);
  state_->resident = state_->faults.left_after_drop;
  state_->clock = clock;
}

FaultyDisk::~FaultyDisk() {
  release();
}

void FaultyDisk::release() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->hangs = false;
  }
  state_->released.notify_all();
}

std::vector<std::string> FaultyDisk::asked() const {
  const std::lock_guard lock(state_->mutex);
  return state_->asked;
}

storage::Place FaultyDisk::look(const std::string& path) {
  storage::Place place;
  place.path = path;
  place.file_system = state_->faults.file_system;
  place.available_bytes = state_->faults.available;
  return place;
}

Result<bool> FaultyDisk::is_folder(const std::string& path) {
  if (path == "none") return make_error(Errc::not_found, "looking at none: No such file");
  return path != "file";
}

Result<std::shared_ptr<storage::ReadTarget>> FaultyDisk::make(const std::string&,
                                                              std::uint64_t bytes, std::stop_token,
                                                              const Progress& progress) {
  state_->ask(fmt::format("make {}", bytes));
  if (state_->faults.make) return *state_->faults.make;
  state_->faults.bytes = bytes;
  progress(bytes);
  return std::make_shared<Target>(state_);
}

Result<std::shared_ptr<storage::ReadTarget>> FaultyDisk::open(const std::string& file) {
  state_->ask("read " + file);
  return std::make_shared<Target>(state_);
}

Result<std::string> FaultyDisk::fio(const std::vector<std::string>& arguments, Duration,
                                    std::stop_token) {
  state_->ask("fio " + (arguments.empty() ? "" : arguments.back()));
  const auto& answers = state_->faults.fio;
  if (answers.empty()) return make_error(Errc::not_found, "fio is not installed");
  return answers[std::min(state_->fio_runs++, answers.size() - 1)];
}

std::unique_ptr<storage::ReadQueue> faulty_queue(const DiskFaults& faults, FakeClock* clock) {
  auto state = std::make_shared<State>();
  state->faults = faults;
  state->clock = clock;
  return std::make_unique<Queue>(std::move(state), false);
}

}  // namespace muster::testing_support
