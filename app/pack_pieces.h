#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "app/open_pack.h"
#include "base/result.h"
#include "core/blocks/token_run.h"
#include "core/model/finding.h"

namespace muster {

// Documents as somebody else encoded them, looked up in a pack: by their place with concat, by what
// they are with the best fits, where no file tells which document went where.
class PackPieces {
 public:
  explicit PackPieces(const OpenPack& pack) : pack_(pack) {}

  // With concat: in what piece `number` (below the manifest's pieces) differs from `run`, one
  // document; empty: in nothing.
  Result<std::string> difference(std::uint64_t number, const blocks::TokenRun& run) const;

  // With the best fits: `run` is one document, and all that the mode keeps of it must be in the
  // pack, as many times as it is wanted.
  void want(const blocks::TokenRun& run, const Evidence& where);
  // Reads the pack once, where anything is wanted: the first that is not there.
  Result<std::optional<Evidence>> first_missing();

 private:
  // Tokens and a hash of ids and loss bits.
  using Key = std::pair<std::uint64_t, std::string>;
  Status find_in(std::uint64_t first_block, std::uint64_t blocks);
  static Key key_of(std::span<const std::int32_t> ids, const blocks::LossBits& bits,
                    std::uint64_t first_bit);

  const OpenPack& pack_;
  std::multimap<Key, Evidence> wanted_;
};

}  // namespace muster
