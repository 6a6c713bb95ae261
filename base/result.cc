#include "base/result.h"

namespace muster {

std::string_view errc_name(Errc code) {
  switch (code) {
    case Errc::invalid_input:
      return "invalid_input";
    case Errc::not_found:
      return "not_found";
    case Errc::unsupported:
      return "unsupported";
    case Errc::permission:
      return "permission";
    case Errc::timeout:
      return "timeout";
    case Errc::unavailable:
      return "unavailable";
    case Errc::corrupt:
      return "corrupt";
    case Errc::exhausted:
      return "exhausted";
    case Errc::internal:
      return "internal";
  }
  return "internal";
}

Error within(std::string_view while_doing, Error error) {
  error.context = std::string(while_doing) + ": " + error.context;
  return error;
}

}  // namespace muster
