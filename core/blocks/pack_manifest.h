#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/blocks/step_plan.h"

// What manifest.json of a pack says (docs/FORMATS.md, muster.pack/1). The folder of a pack:
//
//   blocks.i32     N blocks of L ids, little-endian int32, no header
//   docs.u64       where each piece of text ends in the N * L tokens (doc_ends.h), little-endian
//   loss.bits      one bit a token, the least first: it counts in the loss (loss_bits.h)
//   hashes.u64     a hash of each block (block_hash.h)
//   errors.jsonl   of packs that were made of texts: the records that gave no document
//   manifest.json  written last: a folder without it is no pack

namespace muster::blocks {

inline constexpr std::string_view kBlocksName = "blocks.i32";
inline constexpr std::string_view kDocEndsName = "docs.u64";
inline constexpr std::string_view kLossBitsName = "loss.bits";
inline constexpr std::string_view kHashesName = "hashes.u64";
inline constexpr std::string_view kErrorsName = "errors.jsonl";
inline constexpr std::string_view kManifestName = "manifest.json";

enum class PackMode : std::uint8_t {
  concat,          // documents back to back, cut where a block is full; what is left is the tail
  best_fit,        // whole documents, longest first, into the fullest block that takes them;
                   // longer ones are cut at L and the rest is counted as truncated
  best_fit_split,  // as above, longer ones in pieces of L: nothing is lost
};
std::string_view pack_mode_name(PackMode mode);  // "concat", "best_fit", "best_fit_split"

enum class EosPolicy : std::uint8_t {
  every,         // exactly once behind each document, whatever it ends with
  unless_ended,  // behind each document that does not end itself (a chat template's last token)
  none,          // documents end as they are
};
std::string_view eos_policy_name(EosPolicy policy);  // "every", "unless_ended", "none"

struct PackInput {
  std::string path;  // as the user named it
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;    // read, those with an error included
  std::uint64_t documents = 0;  // that came of them; 0 where those of the pack are absent
  std::uint64_t errors = 0;  // records that gave no document; errors.jsonl of the build lists them
  std::string hash;          // hash_text() of the bytes of the file; empty: not taken

  bool operator==(const PackInput&) const = default;
};

struct PackManifest {
  std::uint32_t block_tokens = 2048;  // L; a multiple of 8, so that a block's loss bits are bytes
  std::uint64_t blocks = 0;           // N
  PackMode mode = PackMode::concat;

  // Where text came from. Absent where a pack was made of ids that bring no such word.
  std::optional<std::string> tokenizer;           // hash_text() of tokenizer.json
  std::optional<std::uint64_t> vocabulary_count;  // every id is below it
  std::optional<std::int32_t> eos;
  EosPolicy eos_policy = EosPolicy::none;
  std::optional<std::int32_t> pad;           // fills blocks of best_fit; absent with concat
  std::optional<std::string> chat_template;  // its name
  // How texts were read, in the words of the options of `muster pack`: who reads the inputs again
  // needs them. `specials` is there wherever texts were read.
  std::optional<std::string> field, split, specials;
  std::vector<PackInput> inputs;  // in the order of their documents

  // The account: every token that came in is in a block, or counted here.
  // That came in; absent where nobody knows where they begin and end (ids of another packer): then
  // docs.u64 is empty.
  std::optional<std::uint64_t> documents;
  std::uint64_t document_tokens = 0;   // of them all, with the EOS that was put behind them
  std::uint64_t eos_added = 0;         // of these
  std::uint64_t pieces = 0;            // entries of docs.u64
  std::uint64_t pad_tokens = 0;        // in blocks
  std::uint64_t tail_tokens = 0;       // behind the last whole block of concat: not in the pack
  std::uint64_t truncated_tokens = 0;  // cut off by best_fit: not in the pack
  std::uint64_t truncated_documents = 0;
  std::uint64_t trained_tokens = 0;  // set bits of loss.bits

  // One step of the run that this was packed for, where it is known: `steps` is then one number for
  // all ranks (step_plan.h).
  std::optional<std::uint64_t> global_batch;
  Remainder remainder = Remainder::drop;

  // hash_text()s. Each group covers block_hash.h's kGroupBlocks blocks, the last one fewer.
  std::vector<std::string> groups;
  std::string root, doc_ends_hash, loss_bits_hash;

  std::uint64_t tokens() const { return blocks * block_tokens; }  // N * L, in blocks.i32

  bool operator==(const PackManifest&) const = default;
};

std::string encode_manifest(const PackManifest& manifest);
// Refuses what contradicts itself: sizes beyond limits::kPackBlocks and kPackBlockTokens, an
// account that does not add up in 64 bits, groups that are not as many as blocks need, a wrong
// root.
Result<PackManifest> decode_manifest(std::string_view bytes);

// The name of the data itself, for a ResumeState and for gates: hash_text() over what decides the
// tokens and their order (L, N, the roots of all files). Two builds that wrote the same bytes have
// the same identity, whatever their inputs were called.
std::string manifest_identity(const PackManifest& manifest);

}  // namespace muster::blocks
