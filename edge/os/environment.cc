#include "edge/os/environment.h"

#include <cstdlib>

namespace muster {
namespace {

class RealEnvironment final : public Environment {
 public:
  std::optional<std::string> get(const std::string& name) const override {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  }
};

}  // namespace

Environment& real_environment() {
  static RealEnvironment environment;
  return environment;
}

}  // namespace muster
