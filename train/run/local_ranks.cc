#include "train/run/local_ranks.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/model/exit_status.h"
#include "edge/os/clock.h"
#include "edge/os/files.h"

namespace muster::train {
namespace {

constexpr int kPassedOn[] = {SIGTERM, SIGINT, SIGUSR1};

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int number : kPassedOn) sigaddset(&set, number);
  return set;
}

[[noreturn]] void be_rank(int rank, const std::function<int(int)>& rank_main, pid_t parent,
                          const sigset_t& mask) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) std::_Exit(1);  // it has gone already
  // What it is asked before it looks waits for it; with these open it would end.
  sigset_t waiting = mask;
  for (const int number : kPassedOn) sigaddset(&waiting, number);
  ::pthread_sigmask(SIG_SETMASK, &waiting, nullptr);
  std::exit(rank_main(rank));
}

// 128 + signal as in a shell.
int status_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

std::string words_of(int rank, int wait_status, bool first) {
  const bool exited = WIFEXITED(wait_status);
  return fmt::format("rank {} {} {} {}", rank, first ? "ended first," : "ended",
                     exited ? "with status" : "by signal",
                     exited ? WEXITSTATUS(wait_status) : WTERMSIG(wait_status));
}

class Ranks {
 public:
  explicit Ranks(Duration grace) : grace_(grace) {}

  void add(pid_t pid) { pids_.push_back(pid); }
  bool alive() const {
    return std::any_of(pids_.begin(), pids_.end(), [](pid_t pid) { return pid != 0; });
  }
  void send(int number) const {
    for (const pid_t pid : pids_) {
      if (pid != 0) ::kill(pid, number);
    }
  }

  void reap() {
    for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
      int wait_status = 0;
      if (pids_[rank] == 0 || ::waitpid(pids_[rank], &wait_status, WNOHANG) <= 0) continue;
      pids_[rank] = 0;
      const int status = status_of(wait_status);
      if (status == 0 || (end_.first && !explains(status))) continue;
      const bool first = !end_.first;
      if (first) until_ = system_clock().mono() + grace_;
      end_.status = status;
      end_.first = words_of(static_cast<int>(rank), wait_status, first);
    }
  }

  // Until one of them, or a signal to us, wants something.
  void wait(const sigset_t& set) {
    Duration left = std::chrono::hours(1);
    if (until_) left = std::max(*until_ - system_clock().mono(), Duration{});
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec timeout{seconds.count(), (left - seconds).count()};
    const int number = ::sigtimedwait(&set, nullptr, &timeout);
    if (number == SIGTERM || number == SIGUSR1) send(number);
    // A terminal sends it to all of us; another SIGINT to a rank would be its second.
    if (number == SIGINT) send(SIGTERM);
    if (number < 0 && errno == EAGAIN && until_ && system_clock().mono() >= *until_) {
      send(SIGKILL);
      killed_ = true;
      until_ = std::nullopt;  // they end by now: nothing to wait for but that
    }
  }

  LocalRanks end() const { return end_; }

 private:
  // Out of step is what the others become when one of them fails for a reason of its own, and they
  // may be seen to end before it. What we have killed ourselves tells nothing.
  bool explains(int status) const {
    constexpr int kOutOfStep = static_cast<int>(ExitStatus::out_of_step);
    return !killed_ && end_.status == kOutOfStep && status != kOutOfStep;
  }

  Duration grace_;
  std::vector<pid_t> pids_;  // 0: ended
  std::optional<MonoTime> until_;
  bool killed_ = false;
  LocalRanks end_;
};

}  // namespace

Result<LocalRanks> run_local_ranks(int count, const std::function<int(int rank)>& rank_main,
                                   Duration grace) {
  const sigset_t set = watched_signals();
  sigset_t mask;
  ::pthread_sigmask(SIG_BLOCK, &set, &mask);
  std::fflush(nullptr);  // what is buffered is written once
  const pid_t parent = ::getpid();
  Ranks ranks(grace);
  std::optional<Error> fault;
  for (int rank = 0; rank < count && !fault; ++rank) {
    const pid_t pid = ::fork();
    if (pid == 0) be_rank(rank, rank_main, parent, mask);
    if (pid > 0) {
      ranks.add(pid);
      continue;
    }
    fault = errno_error(fmt::format("starting rank {}", rank), errno);
    fault->code = Errc::exhausted;
    ranks.send(SIGKILL);
  }
  for (ranks.reap(); ranks.alive(); ranks.reap()) ranks.wait(set);
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  if (fault) return *fault;
  return ranks.end();
}

}  // namespace muster::train
