#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/limits.h"

// The bytes of one dump, a piece at a time: a file of any length needs the memory of what the
// reader looks at now, and what is refused at its begin is not read to its end.

namespace muster {

// Where bytes come from that are not in memory yet.
class FlightInput {
 public:
  virtual ~FlightInput() = default;
  // Bytes put into the front of `buffer`; 0 at the end, and where reading fails.
  virtual std::size_t read(std::span<char> buffer) = 0;
};

class FlightWindow {
 public:
  static constexpr std::size_t kChunkBytes = 256 * 1024;

  // `first` must stay until the next open(). `rest`: what comes behind it; null: nothing.
  void open(std::string_view first, FlightInput* rest) {
    window_ = first.substr(0, limits::kFlightBytes);
    full_ = window_.size() < first.size();
    rest_ = full_ ? nullptr : rest;
    stable_ = rest_ == nullptr;
    offset_ = 0;
  }

  std::string_view bytes() const { return window_; }
  std::uint64_t offset() const { return offset_; }  // of the window's first byte in the file
  std::uint64_t end() const { return offset_ + window_.size(); }
  bool ended() const { return rest_ == nullptr; }  // nothing comes behind the window
  bool full() const { return full_; }              // more would come, beyond limits::kFlightBytes
  bool stable() const { return stable_; }          // views into it hold until the next open()

  // Lets go of the first `used` bytes and reads until `wanted` are there or the input ends.
  void advance(std::size_t used, std::size_t wanted) {
    window_.remove_prefix(used);
    offset_ += used;
    if (rest_ == nullptr || window_.size() >= wanted) return;
    const std::size_t room = std::max(wanted, window_.size()) + kChunkBytes;
    if (buffer_.size() < room || buffer_.size() > kKeptBytes + 2 * room) {
      std::string larger(room, '\0');
      std::copy(window_.begin(), window_.end(), larger.begin());
      buffer_ = std::move(larger);
    } else {
      std::copy(window_.begin(), window_.end(), buffer_.begin());  // to the front: may overlap
    }
    std::size_t have = window_.size();
    while (have < wanted && rest_ != nullptr) {
      const std::size_t got = rest_->read(std::span(buffer_).subspan(have));
      have += got;
      if (got == 0) rest_ = nullptr;
      if (offset_ + have <= limits::kFlightBytes) continue;
      have = static_cast<std::size_t>(limits::kFlightBytes - offset_);
      full_ = true;
      rest_ = nullptr;
    }
    window_ = std::string_view(buffer_).substr(0, have);
  }

 private:
  static constexpr std::size_t kKeptBytes = 4 * 1024 * 1024;  // of a buffer that is not needed

  std::string_view window_;
  FlightInput* rest_ = nullptr;
  std::string buffer_;
  std::uint64_t offset_ = 0;
  bool full_ = false;
  bool stable_ = true;
};

}  // namespace muster
