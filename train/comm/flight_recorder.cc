#include "train/comm/flight_recorder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/memory_bytes.h"
#include "edge/os/clock.h"
#include "edge/os/files.h"

namespace muster::train {
namespace {

static_assert(static_cast<int>(CollectiveOp::barrier) == 4 && static_cast<int>(Purpose::end) == 7 &&
                  static_cast<int>(Dtype::bf16) == 2 &&
                  static_cast<int>(CollectiveFailure::Kind::aborted) == 3,
              "the words of core/model/flight_record.cc are these numbers");

std::int64_t now_ns() {
  return wall_to_ns(system_clock().wall());
}

template <std::size_t N>
void put(std::array<char, N>& to, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), N - 1), to.begin());
}

// Readers look at any moment: each value is there or not, never half of it.
template <typename T>
void store(T& place, T value) {
  std::atomic_ref<T>(place).store(value, std::memory_order_release);
}

}  // namespace

FlightRecorder::FlightRecorder(std::byte* memory, std::size_t size, const Head& head)
    : memory_(memory), size_(size) {
  FlightRecordHeader& out = header();
  out.version = kFlightRecordVersion;
  out.header_bytes = kFlightRecordHeadBytes;
  out.row_bytes = sizeof(FlightRecordRow);
  out.rows = kFlightRows;
  out.rank = head.rank;
  out.world = head.world;
  out.attempt = head.attempt;
  out.pid = static_cast<std::uint64_t>(getpid());
  out.started_ns = now_ns();
  put(out.host, head.host);
  put(out.run, head.run);
  store(*reinterpret_cast<std::uint64_t*>(memory_),
        std::bit_cast<std::uint64_t>(kFlightRecordMagic));
}

Result<std::unique_ptr<FlightRecorder>> FlightRecorder::create(const std::string& path,
                                                               const Head& head) {
  // A record of an earlier attempt may be open in a reader: it keeps the old file.
  unlink(path.c_str());
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return errno_error("making the flight record " + path, errno);
  // Room is taken now: a full disk must be an error here, not the end of the process later.
  const int full = posix_fallocate(file, 0, static_cast<off_t>(kFlightRecordBytes));
  void* memory =
      full == 0 ? mmap(nullptr, kFlightRecordBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                : MAP_FAILED;
  const int why = full != 0 ? full : errno;
  close(file);
  if (memory == MAP_FAILED) {
    unlink(path.c_str());
    return errno_error("making the flight record " + path, why);
  }
  return std::unique_ptr<FlightRecorder>(
      new FlightRecorder(static_cast<std::byte*>(memory), kFlightRecordBytes, head));
}

std::unique_ptr<FlightRecorder> FlightRecorder::in_memory(const Head& head) {
  void* memory =
      mmap(nullptr, kFlightRecordBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUSTER_CHECK(memory != MAP_FAILED, "there is memory for a flight record");
  return std::unique_ptr<FlightRecorder>(
      new FlightRecorder(static_cast<std::byte*>(memory), kFlightRecordBytes, head));
}

FlightRecorder::~FlightRecorder() {
  munmap(memory_, size_);
}

FlightRecordHeader& FlightRecorder::header() const {
  return *reinterpret_cast<FlightRecordHeader*>(memory_);
}

FlightRecordRow& FlightRecorder::row(std::uint64_t place) const {
  return reinterpret_cast<FlightRecordRow*>(memory_ + kFlightRecordHeadBytes)[place % kFlightRows];
}

std::uint32_t FlightRecorder::add_group(std::string_view name, std::span<const int> ranks) {
  std::atomic_ref<std::uint32_t> count(header().groups);
  const std::uint32_t place = count.fetch_add(1);
  if (place >= kFlightRecordGroups) {
    count.fetch_sub(1);
    return kFlightRecordGroups;
  }
  auto& group = reinterpret_cast<FlightRecordGroup*>(memory_ + sizeof(FlightRecordHeader))[place];
  put(group.name, name);
  const int stride = ranks.size() > 1 ? ranks[1] - ranks[0] : 1;
  bool even = !ranks.empty();
  for (std::size_t i = 1; i < ranks.size(); ++i) even = even && ranks[i] - ranks[i - 1] == stride;
  if (!even) return place;  // members not told
  group.first = static_cast<std::uint32_t>(ranks[0]);
  group.stride = static_cast<std::uint32_t>(stride);
  store(group.count, static_cast<std::uint32_t>(ranks.size()));
  return place;
}

std::uint64_t FlightRecorder::post(std::uint32_t group, std::uint64_t seq, CollectiveOp op, Tag tag,
                                   std::uint64_t bytes, Dtype dtype) {
  if (group >= kFlightRecordGroups) return UINT64_MAX;
  const std::uint64_t place = std::atomic_ref(header().posted).fetch_add(1);
  FlightRecordRow& out = row(place);
  store(out.number, std::uint64_t{0});
  store(out.seq, seq);
  store(out.posted_ns, now_ns());
  store(out.begun_ns, std::int64_t{0});
  store(out.ended_ns, std::int64_t{0});
  store(out.bytes, bytes);
  store(out.step, std::atomic_ref(header().step).load());
  store(out.unit, tag.unit);
  store(out.op, static_cast<std::uint8_t>(op));
  store(out.purpose, static_cast<std::uint8_t>(tag.purpose));
  store(out.dtype, static_cast<std::uint8_t>(dtype));
  store(out.group, static_cast<std::uint8_t>(group));
  store(out.number, place + 1);
  return place;
}

// The ring may have gone round meanwhile: the row is then of another call.
bool FlightRecorder::holds(std::uint64_t place) const {
  return place != UINT64_MAX && std::atomic_ref(row(place).number).load() == place + 1;
}

void FlightRecorder::started(std::uint64_t place) {
  if (holds(place)) store(row(place).begun_ns, now_ns());
}

void FlightRecorder::finished(std::uint64_t place) {
  if (holds(place)) store(row(place).ended_ns, now_ns());
}

void FlightRecorder::seen() {
  store(header().seen_ns, now_ns());
}

void FlightRecorder::set_step(std::uint64_t step) {
  store(header().step, step);
  store(header().step_ns, now_ns());
}

void FlightRecorder::set_phase(RankPhase phase) {
  store(header().phase, static_cast<std::uint32_t>(phase));
}

void FlightRecorder::failed(const CollectiveFailure& failure) {
  std::uint32_t none = 0;
  const auto kind = 1 + static_cast<std::uint32_t>(failure.kind);
  if (!std::atomic_ref(header().failure).compare_exchange_strong(none, kind)) return;
  store(header().failed_ns, now_ns());
}

std::string_view FlightRecorder::bytes() const {
  return {reinterpret_cast<const char*>(memory_), size_};
}

}  // namespace muster::train
