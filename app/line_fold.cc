#include "app/line_fold.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/ascii.h"

namespace muster {
namespace {

// Places for shapes: some messages of each of a thousand ranks in one log; both a power of two.
constexpr std::size_t kSets = 2048;
constexpr std::size_t kWays = 4;
// Numbers with fewer digits may be the name of something: an error, a rank, a device.
constexpr std::size_t kNameDigits = 3;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(std::uint64_t hash, std::string_view text) {
  hash = mixed(hash, text.size());
  std::uint64_t word = 0;
  for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    hash = mixed(hash, word);
  }
  word = 0;
  if (!text.empty()) std::memcpy(&word, text.data(), text.size());
  return mixed(hash, word);
}

// What stands for something that is left out.
constexpr std::uint64_t kStamp = 1, kNumber = 2;

// Where the message begins: behind the name of who speaks. npos: no line of NCCL or its watchdog.
std::size_t message_of(std::string_view line) {
  constexpr std::size_t kFront = 256;
  const std::string_view front = line.substr(0, kFront);
  for (std::size_t at = front.find("NCCL"); at != front.npos; at = front.find("NCCL", at + 4)) {
    const std::string_view behind = front.substr(at + 4);
    const bool told = (behind.starts_with(" WARN ") || behind.starts_with(" INFO ")) &&
                      front.substr(0, at).ends_with(' ');
    if (told || (behind.starts_with('(') && front.substr(0, at).ends_with("Work"))) return at;
  }
  return front.npos;
}

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

// "dd:dd:dd" with 'd' for a digit.
bool fits(std::string_view text, std::string_view form) {
  if (text.size() < form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] == 'd' ? !is_digit(text[i]) : form[i] != text[i]) return false;
  }
  return true;
}

// Bytes of a stamp at the front of `text`: "2026-08-01T10:00:00.118203377", "10:00:00"; 0: none.
std::size_t stamp_size(std::string_view text) {
  std::size_t size = 0;
  if (fits(text, "dddd-dd-dd")) size = 10;
  if (size > 0 && size < text.size() && (text[size] == 'T' || text[size] == ' ')) ++size;
  if (!fits(text.substr(size), "dd:dd:dd")) return size;
  size += 8;
  if (size < text.size() && (text[size] == '.' || text[size] == ',')) ++size;
  while (size < text.size() && is_digit(text[size])) ++size;
  return size;
}

// Where nothing is left out but stamps.
std::uint64_t hash_of_front(std::string_view front) {
  std::uint64_t hash = 1;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < front.size(); ++i) {
    // "n12:34:56 [0]" is a process of a host.
    if (!is_digit(front[i]) || (i > 0 && front[i - 1] != ' ' && front[i - 1] != '[')) continue;
    const std::size_t stamp = stamp_size(front.substr(i));
    if (stamp == 0) continue;
    hash = mixed(hash_of(hash, front.substr(begin, i - begin)), kStamp);
    begin = i + stamp;
    i = begin - 1;
  }
  return hash_of(hash, front.substr(begin));
}

std::uint64_t hash_of_message(std::uint64_t hash, std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_digit(text[i])) {
      ++i;
      continue;
    }
    const bool pointer = text[i] == '0' && i + 1 < text.size() && text[i + 1] == 'x';
    std::size_t end = i + (pointer ? 2 : 1);
    while (end < text.size() && (is_digit(text[end]) || (pointer && is_hex(text[end])))) ++end;
    bool out = pointer || end - i > kNameDigits;
    // The place in a communicator is no count.
    if (out && !pointer) {
      const std::string_view before = text.substr(0, i);
      out = !before.ends_with("rank ") && !before.ends_with("ranks ");
    }
    if (out) {
      hash = mixed(hash_of(hash, text.substr(begin, i - begin)), kNumber);
      begin = end;
    }
    i = end;
  }
  return hash_of(hash, text.substr(begin));
}

}  // namespace

std::optional<std::uint64_t> LineFold::shape_of(std::string_view line) {
  const std::size_t at = message_of(line);
  if (at == std::string_view::npos) return std::nullopt;
  return hash_of_message(hash_of_front(line.substr(0, at)), line.substr(at));
}

std::span<LineFold::Slot> LineFold::set_of(std::uint64_t shape) {
  return std::span(slots_).subspan(shape % kSets * kWays, kWays);
}

bool LineFold::folds(std::uint64_t shape, std::string_view line, std::uint64_t number) {
  if (slots_.empty()) return false;
  for (Slot& slot : set_of(shape)) {
    if (!slot.used || slot.shape != shape) continue;
    slot.folded.text.assign(line);
    slot.folded.number = number;
    ++slot.folded.skipped;
    return true;
  }
  return false;
}

std::optional<LineFold::Folded> LineFold::settle(std::uint64_t shape, std::uint64_t number) {
  slots_.resize(kSets * kWays);  // most logs never come so far
  Slot* oldest = nullptr;
  for (Slot& slot : set_of(shape)) {
    const bool older = oldest == nullptr || slot.folded.number < oldest->folded.number;
    if (oldest == nullptr || (oldest->used && (!slot.used || older))) oldest = &slot;
  }
  std::optional<Folded> before;
  if (oldest->used && oldest->folded.skipped > 0) before = std::move(oldest->folded);
  *oldest = {.shape = shape, .used = true, .folded = {.text = {}, .number = number, .skipped = 0}};
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
