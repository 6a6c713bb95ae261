#include "core/comms/traceback.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "base/text.h"
#include "core/comms/scan.h"

namespace muster {
namespace {

using namespace comms;

// Other output may run into a traceback; after this much of it the end was lost.
constexpr int kStrangeLines = 20;
constexpr std::size_t kTextBytes = 400;

// "package.Name" or "package.Name: text", as Python prints an exception.
bool looks_like_exception(std::string_view text) {
  std::size_t end = 0;
  std::size_t last = 0;
  while (end < text.size() &&
         (is_letter(text[end]) || is_digit(text[end]) || text[end] == '_' || text[end] == '.')) {
    if (text[end] == '.') last = end + 1;
    ++end;
  }
  if (end == 0 || end == last || (end < text.size() && !text.substr(end).starts_with(':'))) {
    return false;
  }
  const std::string_view name = text.substr(last, end - last);
  if (name.front() < 'A' || name.front() > 'Z') return false;
  // "INFO: ...", "WARNING: ..." of a logger.
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  return std::any_of(name.begin(), name.end(), small);
}

bool of_library(std::string_view file) {
  constexpr std::array<std::string_view, 6> kMarks = {
      "site-packages/", "dist-packages/", "/lib/python", "<frozen ", "<string>", "/torch/"};
  return std::any_of(kMarks.begin(), kMarks.end(), [file](std::string_view mark) {
    return file.find(mark) != std::string_view::npos;
  });
}

}  // namespace

void Traceback::frame(std::string_view text) {
  const auto file = take_until(text, "\"");
  if (!file || !take(text, ", line ")) return;
  const auto number = take_int(text);
  if (!number || !take(text, ", in ")) return;
  std::string place =
      fmt::format("in {}, {}:{}", text.substr(0, 100), file->substr(0, 200), *number);
  if (!of_library(*file)) place_ = place;
  any_place_ = std::move(place);
}

Traceback::Step Traceback::line(std::string_view text, std::uint64_t number) {
  if (!stack_) {
    if (trim(text).empty()) return Step::pending;
    const bool link = text.starts_with("During handling of the above exception") ||
                      text.starts_with("The above exception was the direct cause");
    chained_ = chained_ || link;
    if (link) return Step::pending;
    if (!chained_ || !text.starts_with("Traceback (most recent call last)")) return Step::closed;
    if (first_.empty()) first_ = exception_.substr(0, exception_.find(':'));
    stack_ = true;
    chained_ = false;
    place_.clear();
    any_place_.clear();
    return Step::open;
  }
  std::string_view rest = text;
  if (take(rest, "  File \"")) {
    frame(rest);
    return Step::open;
  }
  if (text.starts_with(' ') || text.starts_with('\t')) return Step::open;
  if (looks_like_exception(text)) {
    exception_ = std::string(whole_characters(text, kTextBytes));
    number_ = number;
    stack_ = false;
    return Step::pending;
  }
  return ++strange_ > kStrangeLines ? Step::closed : Step::open;
}

std::string Traceback::summary() const {
  std::string out = exception_;
  const std::string& place = place_.empty() ? any_place_ : place_;
  if (!place.empty()) out += fmt::format(" ({})", place);
  if (!first_.empty()) out += fmt::format(" (after {})", first_);
  return std::string(whole_characters(out, limits::kEvidenceChars));
}

}  // namespace muster
