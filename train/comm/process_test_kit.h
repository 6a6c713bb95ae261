#pragma once

#include <fmt/core.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "edge/os/clock.h"
#include "train/comm/join.h"

// Ranks as processes, for tests that stop and kill them.

namespace muster::train {

// What a rank tells its test: lies in memory that all share.
struct RankReport {
  std::atomic<int> progress{0};
  std::atomic<int> kind{-1};           // of the failure
  std::atomic<int> odd_ranks{0};       // how many
  std::atomic<int> odd_rank{-1};       // the first
  std::atomic<std::int64_t> at_ns{0};  // when it knew
  std::array<char, 512> text{};

  void tell(const CollectiveFailure& failure) {
    at_ns = system_clock().mono().time_since_epoch().count();
    odd_ranks = static_cast<int>(failure.odd_ranks.size());
    odd_rank = failure.odd_ranks.empty() ? -1 : failure.odd_ranks.front();
    say(failure.text);
    kind = static_cast<int>(failure.kind);
  }
  void say(const std::string& what) { what.copy(text.data(), text.size() - 1); }
};

// Processes of a test. What still runs at the end is killed.
class RankProcesses {
 public:
  static constexpr int kMost = 8;

  RankProcesses() {
    void* memory = mmap(nullptr, sizeof(RankReport) * kMost, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUSTER_CHECK(memory != MAP_FAILED, "memory for reports");
    reports_ = static_cast<RankReport*>(memory);
    for (int i = 0; i < kMost; ++i) new (&reports_[i]) RankReport();
  }
  ~RankProcesses() {
    for (std::size_t i = 0; i < pids_.size(); ++i) {
      if (pids_[i] > 0) kill(pids_[i], SIGKILL);
      if (pids_[i] > 0) waitpid(pids_[i], nullptr, 0);
    }
    munmap(reports_, sizeof(RankReport) * kMost);
  }
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  // The process ends with what `part` returns; call before the test has threads.
  void start(const std::function<int(int rank, RankReport& report)>& part) {
    const int rank = static_cast<int>(pids_.size());
    const pid_t pid = fork();
    MUSTER_CHECK(pid >= 0, "a process for a rank");
    if (pid == 0) _exit(part(rank, reports_[rank]));
    pids_.push_back(pid);
  }
  RankReport& report(int rank) { return reports_[rank]; }
  pid_t pid(int rank) const { return pids_[static_cast<std::size_t>(rank)]; }
  void signal(int rank, int number) { kill(pids_[static_cast<std::size_t>(rank)], number); }

  // What it returned; -1: a signal ended it.
  int wait(int rank) {
    int status = 0;
    pid_t& pid = pids_[static_cast<std::size_t>(rank)];
    waitpid(std::exchange(pid, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // Until all (of a test, within a minute) have come so far.
  bool reach(int world, int progress) {
    const MonoTime until = system_clock().mono() + std::chrono::minutes(1);
    for (int rank = 0; rank < world; ++rank) {
      while (reports_[rank].progress < progress) {
        if (system_clock().mono() > until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    return true;
  }

 private:
  RankReport* reports_;
  std::vector<pid_t> pids_;
};

// A run that nobody else has.
inline std::string fresh_token() {
  static int count = 0;
  return fmt::format("test-{}-{}", getpid(), count++);
}

}  // namespace muster::train
