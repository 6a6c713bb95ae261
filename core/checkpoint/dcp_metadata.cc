#include "core/checkpoint/dcp_metadata.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "base/ascii.h"

namespace muster::checkpoint {
namespace {

using Files = std::map<std::string, std::uint64_t>;

constexpr std::size_t kTexts = 1 << 20;
constexpr std::size_t kNameBytes = 255;
constexpr std::string_view kShardEnd = ".distcp";

// Names such as "__3_0.distcp", wherever they stand.
void find_names(std::string_view bytes, Files& out) {
  const auto of_name = [](char c) { return is_digit(c) || is_letter(c) || c == '_' || c == '-'; };
  for (std::size_t at = bytes.find(kShardEnd); at != std::string_view::npos;
       at = bytes.find(kShardEnd, at + kShardEnd.size())) {
    std::size_t begin = at;
    while (begin > 0 && at - begin < kNameBytes && of_name(bytes[begin - 1])) --begin;
    const std::string_view name = bytes.substr(begin, at + kShardEnd.size() - begin);
    // The length before a text may look like a letter of it.
    const std::size_t first = name.find("__");
    if (first != std::string_view::npos) out.emplace(name.substr(first), 0);
  }
}

// The instructions of a pickle one after the other.
class PickleWalk {
 public:
  PickleWalk(std::string_view bytes, Files& files) : rest_(bytes), files_(files) {}

  // Ends at what is no instruction, or at the end.
  void walk() {
    while (!rest_.empty() && step()) continue;
  }

 private:
  // What a place in a file is told in, part by part.
  enum class Part : std::uint8_t { none, path_key, path, offset_key, offset, length_key };

  bool step();
  std::optional<bool> take_remembered(char code);
  bool take_text(std::size_t length_bytes);
  bool take_number(std::size_t bytes, bool is_signed);
  bool skip(std::size_t bytes);
  bool take_length(std::size_t bytes, std::uint64_t& out);
  void text(std::string_view value);
  void number(std::uint64_t value);
  void remember(std::size_t place);

  std::string_view rest_;
  Files& files_;
  std::vector<std::string_view> memory_;
  std::optional<std::string_view> last_;  // the text that the last instruction gave
  Part part_ = Part::none;
  std::string_view path_;
  std::uint64_t offset_ = 0;
};

bool PickleWalk::skip(std::size_t bytes) {
  if (rest_.size() < bytes) return false;
  rest_.remove_prefix(bytes);
  return true;
}

bool PickleWalk::take_length(std::size_t bytes, std::uint64_t& out) {
  if (rest_.size() < bytes) return false;
  out = 0;
  std::memcpy(&out, rest_.data(), bytes);
  rest_.remove_prefix(bytes);
  return true;
}

bool PickleWalk::take_text(std::size_t length_bytes) {
  std::uint64_t length = 0;
  if (!take_length(length_bytes, length) || rest_.size() < length) return false;
  text(rest_.substr(0, length));
  return skip(length);
}

bool PickleWalk::take_number(std::size_t bytes, bool is_signed) {
  std::uint64_t value = 0;
  if (bytes > sizeof value) return skip(bytes);
  if (!take_length(bytes, value)) return false;
  const bool negative = is_signed && bytes > 0 && ((value >> (8 * bytes - 1)) & 1) != 0;
  if (negative) {
    part_ = Part::none;
  } else {
    number(value);
  }
  return true;
}

void PickleWalk::text(std::string_view value) {
  last_ = value;
  if (value == "relative_path") {
    part_ = Part::path_key;
  } else if (part_ == Part::path_key && value.size() <= kNameBytes) {
    path_ = value;
    part_ = Part::path;
  } else if (part_ == Part::path && value == "offset") {
    part_ = Part::offset_key;
  } else if (part_ == Part::offset && value == "length") {
    part_ = Part::length_key;
  } else {
    part_ = Part::none;
  }
}

void PickleWalk::number(std::uint64_t value) {
  if (part_ == Part::offset_key) {
    offset_ = value;
    part_ = Part::offset;
    return;
  }
  if (part_ == Part::length_key && value <= UINT64_MAX - offset_) {
    std::uint64_t& least = files_[std::string(path_)];
    least = std::max(least, offset_ + value);
  }
  part_ = Part::none;
}

void PickleWalk::remember(std::size_t place) {
  if (place >= kTexts) return;
  if (memory_.size() <= place) memory_.resize(place + 1);
  memory_[place] = last_.value_or(std::string_view());
}

// Texts, and what was remembered; nothing for any other instruction.
std::optional<bool> PickleWalk::take_remembered(char code) {
  std::uint64_t value = 0;
  const auto keep = [&](std::size_t bytes) {
    if (!take_length(bytes, value)) return false;
    remember(value);
    return true;
  };
  const auto recall = [&](std::size_t bytes) {
    if (!take_length(bytes, value)) return false;
    const std::string_view known = value < memory_.size() ? memory_[value] : std::string_view();
    if (known.empty()) {
      last_.reset();
    } else {
      text(known);
    }
    return true;
  };
  if (code == '\x94') {  // remembers the last value under the next number
    remember(memory_.size());
    return true;
  }
  if (code == 'q') return keep(1);
  if (code == 'r') return keep(4);
  if (code == 'h') return recall(1);
  if (code == 'j') return recall(4);
  if (code == '\x8c' || code == 'U') return take_text(1);
  if (code == 'X' || code == 'T') return take_text(4);
  if (code == '\x8d') return take_text(8);
  return std::nullopt;
}

bool PickleWalk::step() {
  const char code = rest_.front();
  rest_.remove_prefix(1);
  if (const auto taken = take_remembered(code)) return *taken;
  std::uint64_t value = 0;
  last_.reset();
  switch (code) {
    case '\x80':
    case '\x82':
      return skip(1);
    case '\x83':
      return skip(2);
    case '\x84':
      return skip(4);
    case '\x95':
    case 'G':
      return skip(8);
    case 'J':
      return take_number(4, true);
    case 'K':
      return take_number(1, false);
    case 'M':
      return take_number(2, false);
    case '\x8a':
      return take_length(1, value) && take_number(value, true);
    case '\x8b':
      return take_length(4, value) && take_number(value, true);
    case 'C':
      return take_length(1, value) && skip(value);
    case 'B':
      return take_length(4, value) && skip(value);
    case '\x8e':
    case '\x96':
      return take_length(8, value) && skip(value);
    case 'c':  // two lines
      for (int line = 0; line < 2; ++line) {
        const std::size_t end = rest_.find('\n');
        if (end == std::string_view::npos) return false;
        rest_.remove_prefix(end + 1);
      }
      return true;
    default:
      return std::string_view(
                 "(012NQRbde]a)}utlso\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x93\x97"
                 "\x98")
                 .find(code) != std::string_view::npos;
  }
}

}  // namespace

Files dcp_files(std::string_view metadata) {
  Files out;
  PickleWalk(metadata, out).walk();
  find_names(metadata, out);
  return out;
}

}  // namespace muster::checkpoint
