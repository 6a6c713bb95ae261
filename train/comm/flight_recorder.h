#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/model/flight_record.h"
#include "core/model/heartbeat.h"
#include "train/comm/communicator.h"

namespace muster::train {

// Writes one rank's flight record (core/model/flight_record.h). A record is a few stores into
// mapped memory: what the process did last stands in the file however it ends, kill -9 too. Any
// thread.
class FlightRecorder {
 public:
  struct Head {
    std::string run;  // cut after 63 bytes, as is the host
    std::string host;
    std::uint32_t rank = 0, world = 1, attempt = 1;
  };

  // Replaces what stands at `path`, mode 0600. In /dev/shm it costs no disk.
  static Result<std::unique_ptr<FlightRecorder>> create(const std::string& path, const Head& head);
  // Where nobody looks: for tests, and where no path was given.
  static std::unique_ptr<FlightRecorder> in_memory(const Head& head);
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  // Number of the group for post(). Beyond kFlightRecordGroups its calls are not recorded.
  std::uint32_t add_group(std::string_view name, std::span<const int> ranks);

  // Returns the record's place for started() and finished(), which do nothing once the ring has
  // gone round.
  std::uint64_t post(std::uint32_t group, std::uint64_t seq, CollectiveOp op, Tag tag,
                     std::uint64_t bytes, Dtype dtype);
  void started(std::uint64_t place);
  void finished(std::uint64_t place);

  // The rank waits: a reader sees for how long already.
  void seen();

  void set_step(std::uint64_t step);
  void set_phase(RankPhase phase);
  // The first failure counts.
  void failed(const CollectiveFailure& failure);

  std::string_view bytes() const;

 private:
  FlightRecorder(std::byte* memory, std::size_t size, const Head& head);
  FlightRecordHeader& header() const;
  FlightRecordRow& row(std::uint64_t place) const;
  bool holds(std::uint64_t place) const;

  std::byte* memory_;
  std::size_t size_;
};

}  // namespace muster::train
