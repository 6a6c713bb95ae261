#include "train/run/heartbeat_writer.h"

#include <utility>

#include "edge/os/clock.h"

namespace muster::train {

HeartbeatWriter::HeartbeatWriter(Files& files, std::string path, Heartbeat first)
    : files_(files), path_(std::move(path)), now_(std::move(first)), thread_([this] { run(); }) {}

HeartbeatWriter::~HeartbeatWriter() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void HeartbeatWriter::set_phase(RankPhase phase) {
  const std::lock_guard lock(mutex_);
  now_.phase = phase;
}

void HeartbeatWriter::set_target(std::int64_t target_step) {
  const std::lock_guard lock(mutex_);
  now_.target_step = target_step;
}

void HeartbeatWriter::step_done(std::int64_t step, std::int64_t tokens,
                                std::optional<double> loss) {
  const std::lock_guard lock(mutex_);
  now_.step = step;
  now_.tokens = tokens;
  now_.loss = loss;
}

void HeartbeatWriter::write(std::unique_lock<std::mutex>& lock) {
  now_.wall_ms = wall_to_ns(system_clock().wall()) / 1'000'000;
  const std::string bytes = encode_heartbeat(now_);
  lock.unlock();
  (void)files_.write_atomic(path_, bytes);
  lock.lock();
}

void HeartbeatWriter::run() {
  std::unique_lock lock(mutex_);
  while (!done_) {
    write(lock);
    wake_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; });
  }
  write(lock);
}

}  // namespace muster::train
