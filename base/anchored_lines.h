#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/literal_search.h"

// Of a stream that arrives in chunks of any size, the lines that hold any of many literals; the
// rest goes by unseen, and is counted only.
//
//   AnchoredLines lines(search);
//   lines.feed(chunk, [&](std::string_view line, std::uint64_t number,
//                         std::span<const std::uint16_t> literals) { ...; return false; });
//   lines.finish(the same);
//
// The call tells whether it wants the next line too, whatever that holds (a traceback goes on).
// `number` counts from 1, `literals` are indices of the search, rising, each once. A line comes
// without its "\n" and a "\r" before it; it is valid during the call. Of a line longer than
// limits::kLineBytes that much is looked at.

namespace muster {

class AnchoredLines {
 public:
  // `search` stays the caller's; its literals hold no "\n".
  explicit AnchoredLines(const LiteralSearch& search) : search_(search) {}

  // From here on every line is wanted.
  void want_all() { all_ = true; }

  template <typename F>
  void feed(std::string_view bytes, F&& on_line) {
    // In such pieces no line beyond the limit is whole, however the bytes arrive.
    for (; bytes.size() > limits::kLineBytes; bytes.remove_prefix(limits::kLineBytes)) {
      piece(bytes.substr(0, limits::kLineBytes), on_line);
    }
    piece(bytes, on_line);
  }

  // The last line if the stream did not end in a newline.
  template <typename F>
  void finish(F&& on_line) {
    if (!carry_.empty() || cut_line_) end_carry(on_line);
  }

  std::uint64_t lines() const { return passed_; }
  // Lines that were longer than the limit.
  std::uint64_t cut() const { return cut_; }

 private:
  template <typename F>
  void piece(std::string_view bytes, F&& on_line) {
    if (!carry_.empty() || cut_line_) {
      const std::size_t end = bytes.find('\n');
      keep(bytes.substr(0, end));
      if (end == std::string_view::npos) return;
      bytes.remove_prefix(end + 1);
      end_carry(on_line);
    }
    const std::size_t last = bytes.rfind('\n');
    if (last != std::string_view::npos) {
      scan(bytes.substr(0, last + 1), on_line);
      bytes.remove_prefix(last + 1);
    }
    keep(bytes);
  }

  void keep(std::string_view bytes) {
    const std::size_t room = limits::kLineBytes - carry_.size();
    if (bytes.size() > room) cut_line_ = true;
    carry_ += bytes.substr(0, room);
  }

  template <typename F>
  void end_carry(F&& on_line) {
    if (cut_line_) ++cut_;
    cut_line_ = false;
    carry_ += '\n';
    scan(carry_, on_line);
    carry_.clear();
  }

  // `block`: whole lines.
  template <typename F>
  void scan(std::string_view block, F&& on_line) {
    std::size_t next = 0;            // begin of the first line that was not passed
    std::size_t begin = 0, end = 0;  // of the line that literals were found in; none while equal
    const auto give = [&] {
      if (begin == end) return;
      std::sort(found_.begin(), found_.end());
      found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
      wanted_ = tell(block.substr(begin, end - begin), on_line);
      found_.clear();
      next = end;
      begin = end;
    };
    const auto pass = [&](std::size_t to) {  // all lines that end before it
      while ((wanted_ || all_) && next < to) {
        const std::size_t after = block.find('\n', next) + 1;
        wanted_ = tell(block.substr(next, after - next), on_line);
        next = after;
      }
      passed_ += static_cast<std::uint64_t>(std::count(
          block.begin() + static_cast<long>(next), block.begin() + static_cast<long>(to), '\n'));
      next = to;
    };
    search_.find(block, [&](std::size_t place, std::size_t literal) {
      if (begin == end || place >= end) {
        give();
        const std::size_t before = place == 0 ? std::string_view::npos : block.rfind('\n', place);
        const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
        pass(start);
        begin = start;
        end = block.find('\n', place) + 1;
      }
      found_.push_back(static_cast<std::uint16_t>(literal));
    });
    give();
    pass(block.size());
  }

  template <typename F>
  bool tell(std::string_view line, F&& on_line) {
    line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return on_line(line, ++passed_, std::span<const std::uint16_t>(found_));
  }

  const LiteralSearch& search_;
  std::string carry_;
  std::vector<std::uint16_t> found_;
  std::uint64_t passed_ = 0;
  std::uint64_t cut_ = 0;
  bool cut_line_ = false;  // the line in carry_ is longer than it
  bool wanted_ = false;    // the next line
  bool all_ = false;
};

}  // namespace muster
