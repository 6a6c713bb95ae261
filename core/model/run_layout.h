#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// Where things lie in the folder of a run (docs/FORMATS.md). Arithmetic on paths: nothing is read.

namespace muster {

// A RUN_ID names a folder and comes from outside: 1 to 64 of A-Z a-z 0-9 . _ -, the first a letter
// or a digit. So no slash, no "..", no option of some tool.
Result<std::string> parse_run_id(std::string_view text);

// "rank-12" -> 12 and "3" -> 3; nothing for any other name that lies in the folder, such as the
// temporary name of a file that is being written.
std::optional<std::int64_t> parse_rank_name(std::string_view name);
std::optional<std::int64_t> parse_attempt_name(std::string_view name);

class RunLayout {
 public:
  // `--run DIR`, as the user named it.
  explicit RunLayout(std::string folder);
  // HOME/runs/RUN_ID
  static Result<RunLayout> in_home(std::string_view home, std::string_view run_id);

  const std::string& folder() const { return folder_; }
  std::string run_toml() const;
  std::string attempts() const;
  // Attempts count from 1.
  std::string attempt(std::int64_t n) const;
  std::string gate_record(std::int64_t n) const;
  std::string heartbeats(std::int64_t n) const;
  std::string heartbeat(std::int64_t n, std::int64_t rank) const;
  std::string verdict(std::int64_t n) const;
  std::string logs(std::int64_t n) const;
  std::string flight(std::int64_t n) const;
  std::string evidence(std::int64_t n) const;
  std::string incident_json(std::int64_t n) const;
  std::string incident_text(std::int64_t n) const;

 private:
  std::string folder_;
};

}  // namespace muster
