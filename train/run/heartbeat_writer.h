#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "core/model/heartbeat.h"
#include "edge/os/files.h"

namespace muster::train {

// Writes one rank's sign of life once a second, whatever the rank waits in: a rank that hangs is
// alive and makes no steps, one that is dead says nothing. The last word is written at the end. A
// write that fails is tried again a second later: a full disk must not end a run.
class HeartbeatWriter {
 public:
  // `first`: rank, attempt, target.
  HeartbeatWriter(Files& files, std::string path, Heartbeat first);
  ~HeartbeatWriter();
  HeartbeatWriter(const HeartbeatWriter&) = delete;
  HeartbeatWriter& operator=(const HeartbeatWriter&) = delete;

  // Any thread; cheap.
  void set_phase(RankPhase phase);
  void set_target(std::int64_t target_step);
  void step_done(std::int64_t step, std::int64_t tokens, std::optional<double> loss);

 private:
  void write(std::unique_lock<std::mutex>& lock);
  void run();

  Files& files_;
  const std::string path_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Heartbeat now_;
  bool done_ = false;
  std::jthread thread_;
};

}  // namespace muster::train
