#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/time.h"
#include "edge/os/clock.h"

namespace muster::nvml {

// How a thread is started; throws std::system_error like std::thread where there is none to be had.
using StartThread = std::function<std::thread(std::function<void()>)>;

// One thread that answers one question at a time, for work that may never return. There is never a
// second: a question asked while the last one is open is the same question. The thread starts with
// the first question; where it cannot, every wait is empty at once and the next question tries
// again. What it works on outlives us, and a thread that is busy at destruction is left behind.
// One caller.
template <typename Answer>
class ReaderThread {
 public:
  ReaderThread(std::function<Answer()> work, const StartThread& start)
      : state_(std::make_shared<State>(std::move(work))), start_(start) {}
  ReaderThread(ReaderThread&&) = default;
  ReaderThread& operator=(ReaderThread&&) = delete;
  ~ReaderThread() {
    if (!thread_.joinable()) return;
    bool busy = false;
    {
      const std::lock_guard lock(state_->mutex);
      state_->stop = true;
      busy = state_->asked;
    }
    state_->changed.notify_all();
    busy ? thread_.detach() : thread_.join();
  }

  void ask(MonoTime now) {
    if (!thread_.joinable() && !start()) return;
    {
      const std::lock_guard lock(state_->mutex);
      if (state_->asked) return;
      state_->asked = true;
      state_->answer.reset();
    }
    asked_at_ = now;
    state_->changed.notify_all();
  }

  // The answer, once; empty where there is none by `deadline`.
  std::optional<Answer> wait(MonoTime deadline) {
    if (!thread_.joinable()) return std::nullopt;
    std::unique_lock lock(state_->mutex);
    const auto left = deadline - system_clock().mono();
    state_->changed.wait_until(lock, std::chrono::steady_clock::now() + left,
                               [this] { return !state_->asked; });
    if (state_->asked) return std::nullopt;
    return std::exchange(state_->answer, std::nullopt);
  }

  bool has_thread() const { return thread_.joinable(); }
  MonoTime asked_at() const { return asked_at_; }

 private:
  struct State {
    explicit State(std::function<Answer()> w) : work(std::move(w)) {}
    const std::function<Answer()> work;
    std::mutex mutex;
    std::condition_variable changed;
    bool asked = false, stop = false;
    std::optional<Answer> answer;
  };

  bool start() {
    try {
      thread_ = start_([state = state_] { run(*state); });
    } catch (const std::system_error&) {
      return false;
    }
    return thread_.joinable();
  }
  static void run(State& state) {
    std::unique_lock lock(state.mutex);
    for (;;) {
      state.changed.wait(lock, [&] { return state.asked || state.stop; });
      if (state.stop) return;
      lock.unlock();
      Answer answer = state.work();
      lock.lock();
      state.answer = std::move(answer);
      state.asked = false;
      state.changed.notify_all();
    }
  }

  std::shared_ptr<State> state_;
  StartThread start_;
  std::thread thread_;
  MonoTime asked_at_{};
};

}  // namespace muster::nvml
