#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/console.h"
#include "cmd/options.h"
#include "core/model/exit_status.h"

namespace muster {

// One verb of the program. A verb only composes: it turns options into the pieces of app/ and
// core/, runs them and hands the answer to the console.
class Verb {
 public:
  virtual ~Verb() = default;
  virtual std::string_view name() const = 0;     // "triage", or "config check"
  virtual std::string_view summary() const = 0;  // one line: the question it answers
  virtual void declare(VerbOptions& options) = 0;
  virtual ExitStatus run(Console& console) = 0;
};

// All verbs in the order of --help (cmd/table.cc).
std::vector<std::unique_ptr<Verb>> make_verbs();

}  // namespace muster
