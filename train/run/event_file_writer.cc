#include "train/run/event_file_writer.h"

#include <bit>

#include "base/crc32c.h"

namespace muster::train {
namespace {

// Fields of the messages Event (wall_time 1, step 2, file_version 3, summary 5), Summary (value 1)
// and Summary.Value (tag 1, simple_value 2), with their wire types.
enum Field : unsigned char {
  kWallTime = 1 << 3 | 1,
  kStep = 2 << 3 | 0,
  kFileVersion = 3 << 3 | 2,
  kSummary = 5 << 3 | 2,
  kValue = 1 << 3 | 2,
  kTag = 1 << 3 | 2,
  kSimpleValue = 2 << 3 | 5,
};

template <typename T>
void put_number(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(0x80 | (value & 0x7f));
  out += static_cast<char>(value);
}

void put_bytes(std::string& out, Field field, std::string_view bytes) {
  out += static_cast<char>(field);
  put_varint(out, bytes.size());
  out += bytes;
}

std::uint32_t masked(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
}

std::string framed(std::string_view payload) {
  std::string out;
  put_number(out, std::uint64_t{payload.size()});
  put_number(out, masked(out));
  out += payload;
  put_number(out, masked(payload));
  return out;
}

std::string begin_event(WallTime at) {
  std::string event(1, static_cast<char>(kWallTime));
  put_number(event, std::bit_cast<std::uint64_t>(duration_to_seconds(at.time_since_epoch())));
  return event;
}

}  // namespace

std::string event_file_head(WallTime at) {
  std::string event = begin_event(at);
  put_bytes(event, kFileVersion, "brain.Event:2");
  return framed(event);
}

std::string event_record(WallTime at, std::uint64_t step, std::span<const EventScalar> scalars) {
  std::string summary;
  for (const EventScalar& scalar : scalars) {
    std::string value;
    put_bytes(value, kTag, scalar.tag);
    value += static_cast<char>(kSimpleValue);
    put_number(value, std::bit_cast<std::uint32_t>(static_cast<float>(scalar.value)));
    put_bytes(summary, kValue, value);
  }
  std::string event = begin_event(at);
  event += static_cast<char>(kStep);
  put_varint(event, step);
  put_bytes(event, kSummary, summary);
  return framed(event);
}

}  // namespace muster::train
