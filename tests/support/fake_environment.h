#pragma once

#include <map>

#include "edge/os/environment.h"

namespace muster {

class FakeEnvironment final : public Environment {
 public:
  explicit FakeEnvironment(std::map<std::string, std::string> values)
      : values_(std::move(values)) {}
  std::optional<std::string> get(const std::string& name) const override {
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    return found->second;
  }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace muster
