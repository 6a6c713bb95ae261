#include "app/line_fold.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"

namespace muster {
namespace {

// More than a job has ranks on one host and messages in turn; a power of two.
constexpr std::size_t kSlots = 4096;
// Numbers with fewer digits may be the name of something: an error, a rank, a device.
constexpr std::size_t kNameDigits = 3;

// Who speaks stands in front of it.
constexpr std::array<std::string_view, 3> kMarks = {" NCCL WARN ", " NCCL INFO ", ": WorkNCCL("};

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = mixed(hash, static_cast<unsigned char>(c));
  return hash;
}

bool in_number(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

// "10:00:00.118203377", "2026-08-01": behind the first digit of one.
std::size_t stamp_at(std::string_view text, std::size_t at) {
  std::size_t end = at, marks = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == ':' || text[end] == '-' ||
                               text[end] == '.' || text[end] == ',' || text[end] == 'T')) {
    marks += text[end] == ':' || text[end] == '-' ? 1 : 0;
    ++end;
  }
  return marks >= 2 && end - at >= 8 ? end : at;
}

// Where nothing is masked but stamps.
std::uint64_t hash_of_front(std::string_view front) {
  std::uint64_t hash = 1;
  for (std::size_t i = 0; i < front.size();) {
    const bool begins = is_digit(front[i]) && (i == 0 || !is_digit(front[i - 1]));
    const std::size_t end = begins ? stamp_at(front, i) : i;
    if (end > i) {
      hash = mixed(hash, 256);
      i = end;
    } else {
      hash = mixed(hash, static_cast<unsigned char>(front[i++]));
    }
  }
  return hash;
}

}  // namespace

LineFold::LineFold() : slots_(kSlots) {}

std::optional<std::uint64_t> LineFold::shape_of(std::string_view line) {
  std::size_t at = std::string_view::npos;
  for (const std::string_view mark : kMarks) {
    if (at == std::string_view::npos) at = line.substr(0, 256).find(mark);
  }
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t hash = hash_of_front(line.substr(0, at));
  for (std::size_t i = at; i < line.size();) {
    const bool pointer = line[i] == '0' && i + 1 < line.size() && line[i + 1] == 'x';
    std::size_t end = i + (pointer ? 2 : 0);
    while (end < line.size() && (is_digit(line[end]) || (pointer && in_number(line[end])))) ++end;
    // The place in a communicator is no count.
    const std::string_view before = line.substr(0, i);
    const bool place = before.ends_with("rank ") || before.ends_with("ranks ");
    if (pointer || (end - i > kNameDigits && !place)) {
      hash = mixed(hash, 257);
      i = end;
    } else {
      end = std::max(end, i + 1);
      hash = hash_of(hash, line.substr(i, end - i));
      i = end;
    }
  }
  return hash;
}

bool LineFold::folds(std::uint64_t shape, std::string_view line, std::uint64_t number) {
  Slot& slot = slots_[shape % kSlots];
  if (!slot.used || slot.shape != shape) return false;
  slot.folded.text.assign(line);
  slot.folded.number = number;
  ++slot.folded.skipped;
  return true;
}

std::optional<LineFold::Folded> LineFold::settle(std::uint64_t shape) {
  Slot& slot = slots_[shape % kSlots];
  std::optional<Folded> before;
  if (slot.used && slot.folded.skipped > 0) before = std::move(slot.folded);
  slot = {.shape = shape, .used = true, .folded = {}};
  return before;
}

std::vector<LineFold::Folded> LineFold::take() {
  std::vector<Folded> out;
  for (Slot& slot : slots_) {
    if (slot.used && slot.folded.skipped > 0) out.push_back(std::move(slot.folded));
    slot = {};
  }
  std::sort(out.begin(), out.end(),
            [](const Folded& a, const Folded& b) { return a.number < b.number; });
  return out;
}

}  // namespace muster
