#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace muster::checkpoint {

// The files that .metadata of torch.distributed.checkpoint names, each with the bytes that it must
// have at least; 0 where that is not told. It is a pickle, whose instructions are walked over and
// none is carried out: texts and numbers count where they come in the order in which a place in a
// file is written (relative_path, offset, length). Where it is written otherwise, what looks like a
// shard's name still counts as one. Any bytes; at most 2^20 texts are remembered.
std::map<std::string, std::uint64_t> dcp_files(std::string_view metadata);

}  // namespace muster::checkpoint
