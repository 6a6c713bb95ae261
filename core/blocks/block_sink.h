#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"

namespace muster::blocks {

// Takes what a packer has finished, in order. The spans live until the call returns.
class BlockSink {
 public:
  virtual ~BlockSink() = default;
  // One or more whole blocks from number `first_block` on: L ids each, and their loss bits, L / 8
  // bytes each.
  virtual Status blocks(std::uint64_t first_block, std::span<const std::int32_t> ids,
                        std::span<const std::uint8_t> loss) = 0;
  // The next entries of docs.u64.
  virtual Status ends(std::span<const std::uint64_t> ends) = 0;
};

}  // namespace muster::blocks
