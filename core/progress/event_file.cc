#include "core/progress/event_file.h"

#include <bit>
#include <cmath>
#include <optional>
#include <string>

#include "base/crc32c.h"
#include "base/limits.h"
#include "core/progress/step_table.h"

namespace muster {
namespace {

constexpr std::size_t kHead = 12, kTail = 4;

std::uint32_t masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
}

std::uint64_t little(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

// The length at the front, where its checksum is right and nobody would call it absurd.
std::optional<std::uint64_t> length_at(std::string_view bytes) {
  if (bytes.size() < kHead) return std::nullopt;
  if (masked_crc(bytes.substr(0, 8)) != little(bytes.substr(8, 4))) return std::nullopt;
  const std::uint64_t length = little(bytes.substr(0, 8));
  return length <= limits::kEventSkippedBytes ? std::optional(length) : std::nullopt;
}

// ---- protocol buffers --------------------------------------------------------------------------

struct Field {
  std::uint64_t number = 0;
  std::uint64_t value = 0;  // of a varint, or the bits of a fixed one
  std::string_view bytes;   // of a length-delimited one
  bool delimited = false;
};

std::optional<std::uint64_t> take_varint(std::string_view& message) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !message.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(message[0]);
    message.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// The next field; nothing at the end and where the message is damaged.
std::optional<Field> take_field(std::string_view& message) {
  const auto key = take_varint(message);
  if (!key) return std::nullopt;
  Field field;
  field.number = *key >> 3;
  const std::uint64_t type = *key & 7;
  if (type == 0) {
    const auto value = take_varint(message);
    if (!value) return std::nullopt;
    field.value = *value;
    return field;
  }
  std::uint64_t size = type == 1 ? 8 : 4;
  if (type == 2) {
    const auto length = take_varint(message);
    if (!length) return std::nullopt;
    size = *length;
  } else if (type != 1 && type != 5) {
    return std::nullopt;
  }
  if (size > message.size()) return std::nullopt;
  field.bytes = message.substr(0, size);
  field.delimited = type == 2;
  if (!field.delimited) field.value = little(field.bytes);
  message.remove_prefix(size);
  return field;
}

double float_of(std::uint64_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

// TensorProto of one number: dtype 1 (float) or 2 (double); in float_val, double_val or raw bytes.
std::optional<double> scalar_of_tensor(std::string_view tensor) {
  std::uint64_t type = 1;
  std::optional<double> value;
  std::string_view raw;
  while (const auto field = take_field(tensor)) {
    if (field->number == 1 && !field->delimited) type = field->value;
    if (field->number == 4 && field->delimited) raw = field->bytes;
    if (field->number == 5) {  // packed, or one by itself
      if (field->bytes.size() == 4) value = float_of(little(field->bytes));
    }
    if (field->number == 6 && field->bytes.size() == 8) {
      value = std::bit_cast<double>(little(field->bytes));
    }
  }
  if (value) return value;
  if (type == 1 && raw.size() == 4) return float_of(little(raw));
  if (type == 2 && raw.size() == 8) return std::bit_cast<double>(little(raw));
  return std::nullopt;
}

// Summary.Value: tag 1, simple_value 2, tensor 8. True where it says something of a step.
bool add_value(std::string_view message, StepRecord& record) {
  std::string_view tag;
  std::optional<double> value;
  while (const auto field = take_field(message)) {
    if (field->number == 1 && field->delimited) tag = field->bytes;
    if (field->number == 2 && field->bytes.size() == 4) value = float_of(field->value);
    if (field->number == 8 && field->delimited) value = scalar_of_tensor(field->bytes);
  }
  const NamedQuantity what = step_quantity(tag);
  if (!value || what.quantity == StepQuantity::none) return false;
  set_quantity(what, *value, record);
  return true;
}

// Event: wall_time 1, step 2, summary 5.
std::optional<StepRecord> read_event(std::string_view message) {
  StepRecord record;
  double wall_s = 0;
  bool says = false;
  while (const auto field = take_field(message)) {
    if (field->number == 1 && field->bytes.size() == 8 && !field->delimited) {
      wall_s = std::bit_cast<double>(field->value);
    }
    if (field->number == 2 && field->bytes.empty()) {
      record.step = static_cast<std::int64_t>(field->value);
    }
    if (field->number != 5 || !field->delimited) continue;
    std::string_view summary = field->bytes;
    while (const auto inner = take_field(summary)) {
      if (inner->number == 1 && inner->delimited) says = add_value(inner->bytes, record) || says;
    }
  }
  constexpr double kMostSeconds = 9e9;
  if (!says || record.step < 0 || record.step > 1'000'000'000'000'000) return std::nullopt;
  if (wall_s > 0 && wall_s < kMostSeconds) {
    record.at = WallTime(seconds_to_duration(wall_s));
    record.at_has_zone = true;
  }
  return record;
}

}  // namespace

class EventFileDecoder::Impl {
 public:
  void feed(std::string_view chunk, ProgressSink& sink) {
    if (skip_ > 0) {
      const auto skipped = std::min<std::uint64_t>(skip_, chunk.size());
      chunk.remove_prefix(skipped);
      skip_ -= skipped;
    }
    held_.append(chunk);
    std::string_view rest = held_;
    while (take(rest, sink)) {
    }
    held_.erase(0, held_.size() - rest.size());
  }
  std::uint64_t damaged() const { return damaged_; }

 private:
  // False where more bytes are needed.
  bool take(std::string_view& rest, ProgressSink& sink) {
    if (rest.size() < kHead) return false;
    const auto length = length_at(rest);
    if (!length) {
      if (!lost_) ++damaged_;
      lost_ = true;
      rest.remove_prefix(1);
      return true;
    }
    lost_ = false;
    const std::uint64_t whole = kHead + *length + kTail;
    if (*length > limits::kEventRecordBytes) {
      const auto here = std::min<std::uint64_t>(whole, rest.size());
      skip_ = whole - here;
      rest.remove_prefix(here);
      ++number_;
      return skip_ == 0;
    }
    if (rest.size() < whole) return false;
    const std::string_view payload = rest.substr(kHead, *length);
    ++number_;
    if (masked_crc(payload) == little(rest.substr(kHead + *length, kTail))) {
      if (auto record = read_event(payload)) {
        record->line = number_;
        sink.step(*record);
      }
    } else {
      ++damaged_;
    }
    rest.remove_prefix(whole);
    return true;
  }

  std::string held_;
  std::uint64_t skip_ = 0, number_ = 0, damaged_ = 0;
  bool lost_ = false;
};

EventFileDecoder::EventFileDecoder() : impl_(std::make_unique<Impl>()) {}
EventFileDecoder::EventFileDecoder(EventFileDecoder&&) noexcept = default;
EventFileDecoder& EventFileDecoder::operator=(EventFileDecoder&&) noexcept = default;
EventFileDecoder::~EventFileDecoder() = default;

void EventFileDecoder::feed(std::string_view chunk, ProgressSink& sink) {
  impl_->feed(chunk, sink);
}
std::uint64_t EventFileDecoder::damaged() const {
  return impl_->damaged();
}

void read_event_payload(std::string_view payload, ProgressSink& sink) {
  if (const auto record = read_event(payload)) sink.step(*record);
}

bool looks_like_event_file(std::string_view head) {
  return length_at(head).has_value();
}

}  // namespace muster
