#pragma once

#include <optional>
#include <string>

namespace muster {

// The environment of the process. Tests use FakeEnvironment (tests/support/fake_environment.h).
class Environment {
 public:
  virtual ~Environment() = default;
  // Nothing where it is not set; a set and empty variable is an empty text.
  virtual std::optional<std::string> get(const std::string& name) const = 0;
};

// getenv: safe from any thread as long as nobody calls setenv, which this program never does.
Environment& real_environment();

}  // namespace muster
