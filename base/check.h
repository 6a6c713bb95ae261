#pragma once

// Checks for programmer errors. They stay on in release builds: a wrong belief about our own state
// must stop the process, never turn into a verdict. Nothing that came from outside the process may
// reach a MUSTER_CHECK; bad input is a Result (base/result.h).

namespace muster {

// Prints "file:line: check failed: expression: why" to standard error and aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* expression, const char* why);

}  // namespace muster

#define MUSTER_CHECK(condition, why)                               \
  do {                                                             \
    if (!(condition)) {                                            \
      ::muster::check_failed(__FILE__, __LINE__, #condition, why); \
    }                                                              \
  } while (false)
