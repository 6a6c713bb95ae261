#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"

namespace muster {

// Items in order -> work on them by many threads -> what was made, in the order of the items. At
// most `window` items are between source and sink, so memory is bounded however uneven the work is.
//
// `source` is called on a thread of its own and gives nothing at the end; `work` on any of
// `threads` threads, which it is told; `sink` on the caller's. A failure of the source ends the run
// when all items before it have gone through the sink; one of the sink ends it at once.
template <typename Item, typename Made>
class OrderedPipeline {
 public:
  using Source = std::function<Result<std::optional<Item>>()>;
  using Work = std::function<Made(std::size_t thread, Item&& item)>;
  using Sink = std::function<Status(Made&& made)>;

  OrderedPipeline(std::size_t threads, std::size_t window) : threads_(threads), window_(window) {}

  // Once.
  Status run(const Source& source, const Work& work, const Sink& sink) {
    std::vector<std::jthread> threads;
    threads.emplace_back([this, &source] { read(source); });
    for (std::size_t i = 0; i < threads_; ++i) {
      threads.emplace_back([this, &work, i] { work_on(work, i); });
    }
    const Status status = drain(sink);
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    threads.clear();
    return status;
  }

 private:
  void read(const Source& source) {
    for (std::uint64_t index = 0;; ++index) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopped_ || index < sunk_ + window_; });
        if (stopped_) return;
      }
      auto item = source();
      const std::lock_guard lock(mutex_);
      const bool more = item && *item;
      if (more) {
        todo_.emplace_back(index, std::move(**item));
      } else {
        end_ = index;
        if (!item) failure_ = item.error();
      }
      changed_.notify_all();
      if (!more) return;
    }
  }

  void work_on(const Work& work, std::size_t thread) {
    for (;;) {
      std::optional<std::pair<std::uint64_t, Item>> next;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopped_ || end_ || !todo_.empty(); });
        if (stopped_ || todo_.empty()) return;
        next.emplace(std::move(todo_.front()));
        todo_.pop_front();
      }
      Made made = work(thread, std::move(next->second));
      const std::lock_guard lock(mutex_);
      done_.emplace(next->first, std::move(made));
      changed_.notify_all();
    }
  }

  Status drain(const Sink& sink) {
    for (;;) {
      std::optional<Made> made;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return (end_ && *end_ == sunk_) || done_.contains(sunk_); });
        if (!done_.contains(sunk_)) return failure_ ? Status(*failure_) : Status();
        auto node = done_.extract(sunk_);
        made.emplace(std::move(node.mapped()));
      }
      if (Status taken = sink(std::move(*made)); !taken) return taken;
      made.reset();
      const std::lock_guard lock(mutex_);
      ++sunk_;
      changed_.notify_all();
    }
  }

  const std::size_t threads_, window_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::uint64_t, Item>> todo_;
  std::map<std::uint64_t, Made> done_;
  std::uint64_t sunk_ = 0;
  std::optional<std::uint64_t> end_;  // the number of items, once it is known
  std::optional<Error> failure_;
  bool stopped_ = false;
};

}  // namespace muster
