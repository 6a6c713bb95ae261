#pragma once

#include <string>

namespace muster::train {

// Which build this is: the linker's build id as hexadecimal digits. "unknown" where it wrote none;
// then nothing is known to differ.
std::string code_id();

}  // namespace muster::train
