#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "edge/os/descriptor.h"

namespace muster::train {

// Where ranks find one another: a name that only this network namespace knows, or an address.
struct SocketAddress {
  std::string name = {};  // local; empty: `host` and `port`
  std::string host = {};
  std::uint16_t port = 0;  // 0 to listen: any that is free
};

// Listens on all addresses of this machine, on those of IPv6 too where it has them. Errc::
// unavailable: somebody else listens there.
Result<Descriptor> listen_at(const SocketAddress& address);
std::uint16_t port_of(const Descriptor& listener);
// The address of this machine through which `connection` goes, as numbers.
std::string own_address_of(const Descriptor& connection);

// Tries again while nobody listens yet. Errc::timeout at `until`; Errc::not_found: no such host.
Result<Descriptor> connect_to(const SocketAddress& address, MonoTime until);
// The next one that comes; nothing at `until`.
std::optional<Descriptor> accept_from(const Descriptor& listener, MonoTime until);

// Non-blocking, with small packets sent at once and a dead host noticed within some ten seconds.
void make_ready(const Descriptor& connection);

// Text with its length in front, at most kFrameBytes. Errc::timeout; Errc::unavailable: the other
// side is gone; Errc::corrupt: no frame. `passed`: a descriptor that goes with it, over a local
// connection.
inline constexpr std::size_t kFrameBytes = 1024 * 1024;
Status send_frame(const Descriptor& connection, std::string_view text, MonoTime until,
                  int passed = -1);
Result<std::string> receive_frame(const Descriptor& connection, MonoTime until,
                                  Descriptor* passed = nullptr);

}  // namespace muster::train
