#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

// Expected failure as a value. A missing file, a timeout, bad input and a refused permission are
// answers, not exceptions: functions that can meet them return Result<T>. Programmer errors are
// MUSTER_CHECKs. Exceptions of third-party libraries are caught in the one .cc that includes the
// library and become an Error.

namespace muster {

enum class Errc {
  invalid_input,  // the bytes are not what they should be
  not_found,      // no such file, host, field
  unsupported,    // understood, and not possible here
  permission,     // the system refused
  timeout,        // a deadline passed
  unavailable,    // the other side refused or is gone; may work later
  corrupt,        // damaged: began well, then broke off or contradicted itself
  exhausted,      // a limit of ours or of the machine (size, depth, disk)
  internal,       // our own fault
};

// The stable lower-case name, for example "not_found".
std::string_view errc_name(Errc code);

// What went wrong and while doing what. `context` reads outermost first:
// "reading n1.csv: line 7: 12 cells where the heading has 11".
struct Error {
  Errc code = Errc::internal;
  std::string context;
};

// [[nodiscard]] on the class makes a dropped result a compiler warning; tl::expected itself
// (and std::expected of GCC 12) stays silent.
template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  Result(tl::expected<T, Error> other) : tl::expected<T, Error>(std::move(other)) {}
  // Shorthand for `return Error{...}`.
  Result(Error error) : tl::expected<T, Error>(tl::make_unexpected(std::move(error))) {}
};

using Status = Result<void>;

inline Error make_error(Errc code, std::string context) {
  return Error{code, std::move(context)};
}

// The same error with "while: " in front of its context.
Error within(std::string_view while_doing, Error error);

}  // namespace muster
