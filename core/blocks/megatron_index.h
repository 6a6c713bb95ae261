#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/blocks/id_type.h"

// The index (.idx) of an indexed data set as Megatron-LM writes it, beside a .bin of ids back to
// back. Little-endian; S sequences, D entries of documents:
//
//   0        "MMIDIDX\0\0"            34          S x i32, tokens of each sequence
//   9        u64 version, 1           34 + 4 S    S x i64, where each begins in the .bin, bytes
//   17       u8 type of the ids       34 + 12 S   D x i64, documents: sequence numbers, the first
//   18       u64 S                                0, the last S
//   26       u64 D                    ...         S x i8, modes, in multimodal sets only

namespace muster::blocks {

inline constexpr std::size_t kMegatronHeaderBytes = 34;
inline constexpr std::string_view kMegatronMagic("MMIDIDX\0\0", 9);

struct MegatronIndex {
  IdType type = IdType::i32;
  std::uint64_t sequences = 0;
  std::uint64_t document_entries = 1;

  std::uint64_t sizes_at() const { return kMegatronHeaderBytes; }
  std::uint64_t pointers_at() const { return sizes_at() + 4 * sequences; }
  std::uint64_t documents_at() const { return pointers_at() + 8 * sequences; }
  std::uint64_t end() const { return documents_at() + 8 * document_entries; }
};

// `head`: the first kMegatronHeaderBytes of a file of `file_bytes`. Refuses other versions and
// types, multimodal sets, and sizes that do not make that file.
Result<MegatronIndex> parse_megatron_index(std::string_view head, std::uint64_t file_bytes);
std::string megatron_header(const MegatronIndex& index);

// Holds the sequences of an index together: sizes are not below 0, each begins where the one before
// it ended, all of them are in the .bin, documents rise from 0 to S.
class MegatronSequences {
 public:
  MegatronSequences(const MegatronIndex& index, std::uint64_t bin_bytes);
  // The next ones, as many of each. Errc::corrupt naming the sequence.
  Status add(std::span<const std::int32_t> sizes, std::span<const std::int64_t> pointers);
  Status add_documents(std::span<const std::int64_t> documents);
  // After the last.
  Status finish() const;

 private:
  MegatronIndex index_;
  std::uint64_t bin_bytes_;
  std::uint64_t at_bytes_ = 0, sequences_ = 0, entries_ = 0;
  std::int64_t document_ = 0;
};

}  // namespace muster::blocks
