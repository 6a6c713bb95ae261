#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/limits.h"

// Cuts a stream that arrives in chunks of any size into lines, with bounded memory.
//
//   LineSplitter lines;
//   lines.feed(chunk, [&](std::string_view line, std::uint64_t offset) { ... });
//   lines.finish([&](std::string_view line, std::uint64_t offset) { ... });  // torn last line
//
// A line comes without its "\n" and without a "\r" before it; `offset` is where it starts in the
// stream, in bytes. A line inside one chunk is a view into the chunk (no copy); the view is valid
// during the call only. A line longer than limits::kLineBytes is dropped and counted.

namespace muster {

class LineSplitter {
 public:
  template <typename F>
  void feed(std::string_view chunk, F&& on_line) {
    for (;;) {
      const std::size_t newline = chunk.find('\n');
      if (newline == std::string_view::npos) break;
      emit(chunk.substr(0, newline), on_line);
      offset_ += newline + 1;
      chunk.remove_prefix(newline + 1);
    }
    keep(chunk);
    offset_ += chunk.size();
  }

  // The last line if the stream did not end in a newline.
  template <typename F>
  void finish(F&& on_line) {
    if (!partial_.empty()) emit({}, on_line);
  }

  // Lines dropped because they were longer than the limit.
  std::uint64_t dropped() const { return dropped_; }

 private:
  template <typename F>
  void emit(std::string_view tail, F&& on_line) {
    if (skipping_) {
      skipping_ = false;
      return;
    }
    if (partial_.size() + tail.size() > limits::kLineBytes) {
      partial_.clear();
      ++dropped_;
      return;
    }
    if (partial_.empty()) {
      on_line(without_cr(tail), offset_);
      return;
    }
    const std::uint64_t start = offset_ - partial_.size();
    partial_ += tail;
    on_line(without_cr(partial_), start);
    partial_.clear();
  }

  void keep(std::string_view rest) {
    if (skipping_) return;
    if (partial_.size() + rest.size() > limits::kLineBytes) {
      partial_.clear();
      skipping_ = true;
      ++dropped_;
      return;
    }
    partial_ += rest;
  }

  static std::string_view without_cr(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  std::string partial_;
  std::uint64_t offset_ = 0;
  std::uint64_t dropped_ = 0;
  bool skipping_ = false;
};

}  // namespace muster
