#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

// For tests: a server on a loopback port of the kernel's choice that answers every connection with
// the same bytes, whatever they are, and closes it. With `drip` above zero it sends one byte, waits
// so long, and goes on. Ends, and is joined, with the object.

namespace muster {

class RawServer {
 public:
  explicit RawServer(std::string bytes, std::chrono::milliseconds drip = {});
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  std::uint16_t port() const { return port_; }

 private:
  void serve(const std::stop_token& stop) const;
  std::string bytes_;
  std::chrono::milliseconds drip_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::jthread thread_;
};

}  // namespace muster
