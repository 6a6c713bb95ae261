#include "edge/os/host_name.h"

#include <unistd.h>

#include <array>

namespace muster {

std::optional<std::string> own_host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return std::nullopt;
  return name.data();
}

}  // namespace muster
