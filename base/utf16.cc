#include "base/utf16.h"

namespace muster {
namespace {

constexpr unsigned kMark = 0xfeff, kReplacement = 0xfffd;

void append(unsigned code, std::string& out) {
  const auto put = [&out](unsigned byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6));
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3f));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

}  // namespace

bool Utf16Decoder::begins(std::string_view head) {
  return head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff");
}

std::optional<bool> Utf16Decoder::big_endian_without_mark(std::string_view head) {
  constexpr std::size_t kFewest = 16;
  const std::size_t pairs = head.size() / 2;
  if (begins(head) || pairs < kFewest) return std::nullopt;
  std::size_t first = 0, second = 0;  // zeros of each half
  for (std::size_t i = 0; i < pairs; ++i) {
    first += head[2 * i] == '\0' ? 1 : 0;
    second += head[2 * i + 1] == '\0' ? 1 : 0;
  }
  if (first * 10 >= pairs * 7 && second * 20 <= pairs) return true;
  if (second * 10 >= pairs * 7 && first * 20 <= pairs) return false;
  return std::nullopt;
}

std::string Utf16Decoder::feed(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (!half_) {
      half_ = byte;
      continue;
    }
    if (!big_endian_) big_endian_ = *half_ == 0xfe;
    unit(*big_endian_ ? *half_ * 256u + byte : byte * 256u + *half_, out);
    half_.reset();
  }
  return out;
}

void Utf16Decoder::unit(unsigned value, std::string& out) {
  const bool high = value >= 0xd800 && value < 0xdc00;
  const bool low = value >= 0xdc00 && value < 0xe000;
  if (high_ != 0 && low) {
    append(0x10000 + ((high_ - 0xd800) << 10) + (value - 0xdc00), out);
  } else {
    if (high_ != 0) append(kReplacement, out);
    if (low) append(kReplacement, out);
    if (!high && !low && value != kMark) append(value, out);
  }
  high_ = high ? value : 0;
}

}  // namespace muster
