#pragma once

#include <string>

#include "base/result.h"

namespace muster::train {

// Names the weights of a Hugging Face folder, so that ranks on several hosts can compare theirs:
// of every .safetensors file its name, its size, its header whole and a sample of its bytes, and
// the index. Another revision, a file that was copied half and another model differ; a flipped bit
// between the samples does not, as reading all of 64 GB on every rank would cost minutes.
// 16 hexadecimal digits. Errc::not_found: no such folder, or no such file in it.
Result<std::string> weights_digest(const std::string& model_folder);

}  // namespace muster::train
