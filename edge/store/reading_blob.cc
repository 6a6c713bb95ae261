#include "edge/store/reading_blob.h"

#include <bit>
#include <cmath>
#include <optional>

namespace muster {
namespace {

constexpr std::uint8_t kWhole = 16, kFloat = 17, kDouble = 18;
constexpr std::size_t kMaxReadings = 256;
constexpr double kExactWhole = 9007199254740992.0;  // 2^53

// The reasons by their number in the file: append only.
constexpr Absence kReasons[] = {Absence::not_reported, Absence::unsupported, Absence::permission,
                                Absence::lost,         Absence::needs_reset, Absence::read_error,
                                Absence::timeout,      Absence::blank,       Absence::malformed,
                                Absence::mig};

void put_fixed(std::string& out, std::uint64_t bits, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((bits >> (8 * i)) & 0xff);
}

void put_value(std::string& out, double value) {
  if (std::abs(value) <= kExactWhole && value == std::floor(value)) {
    const auto whole = static_cast<std::int64_t>(value);
    std::uint64_t zigzag =
        (static_cast<std::uint64_t>(whole) << 1) ^ static_cast<std::uint64_t>(whole >> 63);
    out += static_cast<char>(kWhole);
    for (; zigzag > 0x7f; zigzag >>= 7) out += static_cast<char>((zigzag & 0x7f) | 0x80);
    out += static_cast<char>(zigzag);
    return;
  }
  // In range first: narrowing a double beyond float is undefined.
  const bool fits = std::abs(value) < 3e38;
  const float narrow = fits ? static_cast<float>(value) : 0;
  if (static_cast<double>(narrow) == value) {
    out += static_cast<char>(kFloat);
    put_fixed(out, std::bit_cast<std::uint32_t>(narrow), 4);
  } else {
    out += static_cast<char>(kDouble);
    put_fixed(out, std::bit_cast<std::uint64_t>(value), 8);
  }
}

int reason_number(Absence why) {
  for (std::size_t i = 0; i < std::size(kReasons); ++i) {
    if (kReasons[i] == why) return static_cast<int>(i);
  }
  return 0;
}

// Takes bytes from the front of a text.
class Bytes {
 public:
  explicit Bytes(std::string_view text) : text_(text) {}
  bool empty() const { return text_.empty(); }
  std::optional<std::uint8_t> byte() {
    if (text_.empty()) return std::nullopt;
    const auto b = static_cast<std::uint8_t>(text_.front());
    text_.remove_prefix(1);
    return b;
  }
  std::optional<std::uint64_t> fixed(int bytes) {
    std::uint64_t bits = 0;
    for (int i = 0; i < bytes; ++i) {
      const auto b = byte();
      if (!b) return std::nullopt;
      bits |= static_cast<std::uint64_t>(*b) << (8 * i);
    }
    return bits;
  }
  std::optional<double> whole() {
    std::uint64_t zigzag = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      const auto b = byte();
      if (!b) return std::nullopt;
      zigzag |= static_cast<std::uint64_t>(*b & 0x7f) << shift;
      if ((*b & 0x80) == 0) {
        const auto value = static_cast<std::int64_t>(zigzag >> 1);
        return static_cast<double>((zigzag & 1) != 0 ? -value - 1 : value);
      }
    }
    return std::nullopt;
  }

 private:
  std::string_view text_;
};

std::optional<Reading> take_reading(Bytes& bytes) {
  const auto form = bytes.byte();
  if (!form) return std::nullopt;
  if (*form < std::size(kReasons)) return Reading::absent(kReasons[*form]);
  std::optional<double> value;
  if (*form == kWhole) value = bytes.whole();
  if (*form == kFloat) {
    if (const auto bits = bytes.fixed(4)) {
      value = std::bit_cast<float>(static_cast<std::uint32_t>(*bits));
    }
  }
  if (*form == kDouble) {
    if (const auto bits = bytes.fixed(8)) value = std::bit_cast<double>(*bits);
  }
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return Reading::of(*value);
}

}  // namespace

std::string encode_readings(std::span<const MetricReading> readings,
                            const std::function<int(Metric)>& number_of) {
  std::string out;
  std::size_t count = 0;
  for (const MetricReading& r : readings) {
    const int number = number_of(r.metric);
    if (number < 0 || number > 255 || ++count > kMaxReadings) continue;
    out += static_cast<char>(number);
    if (!r.reading.has_value()) {
      out += static_cast<char>(reason_number(r.reading.absence()));
    } else if (std::isfinite(r.reading.value())) {
      put_value(out, r.reading.value());
    } else {
      out += static_cast<char>(reason_number(Absence::malformed));
    }
  }
  return out;
}

DecodedReadings parse_readings(std::string_view blob) {
  DecodedReadings out;
  Bytes bytes(blob);
  while (!bytes.empty()) {
    const auto number = bytes.byte();
    const auto reading = take_reading(bytes);
    if (!reading || out.readings.size() == kMaxReadings) {
      out.whole = false;
      break;
    }
    out.readings.push_back({*number, *reading});
  }
  return out;
}

}  // namespace muster
