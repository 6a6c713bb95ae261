#include "app/read_row.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "app/read_stream.h"

namespace muster {
namespace {

constexpr Duration kLook = std::chrono::milliseconds(250);

// All that the streams of a row work on; it lives as long as the last of them.
struct Row {
  storage::RowPlan plan;
  std::shared_ptr<storage::ReadTarget> target;
  Clock* clock = nullptr;
  StreamSignals signals;
  std::mutex mutex;
  std::condition_variable gate;
  std::size_t ready = 0, over = 0;
  std::optional<Error> fault;
  RowRun run;
  std::stop_source done;

  void end(const std::optional<Error>& error) {
    const std::lock_guard lock(mutex);
    if (error && !fault) fault = error;
    if (error) signals.stop = true;
    if (++over == plan.segments.size()) done.request_stop();
    gate.notify_all();
  }
  // True once all are here; false where one of them will never come.
  bool pass_gate() {
    std::unique_lock lock(mutex);
    ++ready;
    gate.notify_all();
    gate.wait(lock, [this] { return ready == plan.segments.size() || signals.stop; });
    return !signals.stop;
  }
};

void run_stream(Row& row, std::size_t index) {
  auto queue = row.target->open(row.plan.direct, row.plan.depth);
  if (!queue) return row.end(queue.error());
  if (!row.pass_gate()) return row.end({});
  const StreamTask task{row.plan.segments[index], row.plan.depth, row.plan.once, row.plan.length};
  auto run = read_stream(**queue, task, *row.clock, row.signals);
  const std::string engine((*queue)->engine());
  queue->reset();  // the next row must not run beside its end
  if (!run) return row.end(run.error());
  {
    const std::lock_guard lock(row.mutex);
    row.run.streams[index] = std::move(*run);
    row.run.engine = engine;
  }
  row.end({});
}

// Waits until `done`; false where `ticks` stands still for too long.
bool watch_until(const std::stop_token& done, const std::function<std::uint64_t()>& ticks,
                 Clock& clock, const RowWatch& watch, const std::function<void()>& stop_asked) {
  std::uint64_t seen = ticks();
  MonoTime moved = clock.mono();
  while (!done.stop_requested()) {
    clock.sleep_until(clock.mono() + std::min(kLook, watch.patience), done);
    const std::uint64_t now = ticks();
    if (now != seen) moved = clock.mono();
    seen = now;
    if (watch.progress) watch.progress(now);
    if (watch.stop.stop_requested()) stop_asked();
    if (!done.stop_requested() && clock.mono() - moved >= watch.patience) return false;
  }
  return true;
}

Error no_thread(const std::system_error& error) {
  return make_error(Errc::exhausted, std::string("starting a thread that reads: ") + error.what());
}

}  // namespace

Result<RowRun> read_row(const storage::RowPlan& plan,
                        const std::shared_ptr<storage::ReadTarget>& target, Clock& clock,
                        const RowWatch& watch) {
  const auto row = std::make_shared<Row>();
  row->plan = plan;
  row->target = target;
  row->clock = &clock;
  row->run.streams.resize(plan.segments.size());
  const auto stop = [row] {
    const std::lock_guard lock(row->mutex);
    row->signals.stop = true;
    row->gate.notify_all();
  };
  for (std::size_t i = 0; i < plan.segments.size(); ++i) {
    try {
      std::thread([row, i] { run_stream(*row, i); }).detach();
    } catch (const std::system_error& error) {
      for (std::size_t rest = i; rest < plan.segments.size(); ++rest) row->end(no_thread(error));
      break;
    }
  }
  const auto ticks = [row] { return row->signals.bytes.load(std::memory_order_relaxed); };
  if (!watch_until(row->done.get_token(), ticks, clock, watch, stop)) {
    stop();
    return make_error(Errc::timeout, "reads hang: none ended for a long time");
  }
  const std::lock_guard lock(row->mutex);
  if (watch.stop.stop_requested()) return make_error(Errc::unavailable, "stopped");
  if (row->fault) return *row->fault;
  return std::move(row->run);
}

Status finish_in_time(std::function<void()> work, const std::function<std::uint64_t()>& ticks,
                      Clock& clock, const RowWatch& watch) {
  std::stop_source done;
  try {
    std::thread([work = std::move(work), done]() mutable {
      work();
      done.request_stop();
    }).detach();
  } catch (const std::system_error& error) {
    return no_thread(error);
  }
  if (watch_until(done.get_token(), ticks, clock, watch, [] {})) return {};
  return make_error(Errc::timeout, "it hangs: nothing moved for a long time");
}

}  // namespace muster
