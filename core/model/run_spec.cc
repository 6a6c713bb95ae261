#include "core/model/run_spec.h"

#include <fmt/core.h>

#include <set>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::string_view kEngines[] = {"local", "ssh", "slurm"};

Status fault(std::string text) {
  return make_error(Errc::invalid_input, std::move(text));
}

}  // namespace

std::string_view engine_name(Engine engine) {
  return kEngines[static_cast<int>(engine)];
}

std::optional<Engine> engine_from_name(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kEngines); ++i) {
    if (kEngines[i] == name) return static_cast<Engine>(i);
  }
  return std::nullopt;
}

Status check_run_spec(const RunSpec& spec) {
  if (spec.command.empty() || spec.command.front().empty())
    return fault("command: names no program");
  for (const std::string& word : spec.command) {
    if (word.find('\0') != std::string::npos) return fault("command: a zero byte in an argument");
  }
  if (spec.engine == Engine::ssh && spec.hosts.empty())
    return fault("hosts: ssh needs at least one");
  std::set<std::string_view> seen;
  for (const std::string& host : spec.hosts) {
    const bool plain =
        !host.empty() && host.front() != '-' &&
        host.find_first_of(std::string_view(" \t\r\n/'\"\\$`;&|<>\0", 16)) == std::string::npos;
    const std::string shown = escape_controls(host, 80);
    if (!plain) return fault(fmt::format("hosts: \"{}\" is no host name", shown));
    if (!seen.insert(host).second) return fault(fmt::format("hosts: {} stands twice", shown));
  }
  return {};
}

}  // namespace muster
