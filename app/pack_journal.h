#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/pack_reader.h"
#include "base/result.h"
#include "core/blocks/block_hash.h"
#include "core/blocks/pack_manifest.h"
#include "core/blocks/token_run.h"
#include "core/records/record.h"
#include "edge/os/work_file.h"

// What a build that was broken off can go on from. The journal is a file of lines in the folder of
// the build, each with the hash of itself in front: first the plan, then marks.
//
// A mark says how far the build was when the files of the pack had certain lengths and contents; it
// is written when they have been synced. Whatever dies, and whatever a loss of power takes or
// leaves torn, the last mark whose files are found as it says is a whole state: all behind it is
// cut away.

namespace muster {

// The files that grow while inputs are read, in the order of PackFileStates.
inline constexpr std::array<std::string_view, 5> kPackFiles = {
    blocks::kBlocksName, blocks::kDocEndsName, blocks::kLossBitsName, blocks::kHashesName,
    blocks::kErrorsName};

// What came of one input.
struct PackCount {
  std::uint64_t documents = 0;
  std::array<std::uint64_t, records::kFaultCount> faults{};

  // Records read: those that became documents, were lost or were empty.
  std::uint64_t records() const { return documents + errors(); }
  std::uint64_t errors() const;
  void add(const PackCount& more);
  bool operator==(const PackCount&) const = default;
};

// How far one of them was.
struct PackFileState {
  std::uint64_t bytes = 0;
  blocks::Hash128 hash;  // of all its bytes until there
  bool operator==(const PackFileState&) const = default;
};
using PackFileStates = std::array<PackFileState, kPackFiles.size()>;

struct PackMark {
  std::uint64_t chunks = 0;  // of the inputs, that are in the files or in `pending`
  std::string chain;         // hash over those chunks: other inputs have another
  bool complete = false;     // there are no more
  PackFileStates files;
  std::uint64_t next_block = 0, trained_tokens = 0, eos_added = 0, document_tokens = 0;
  blocks::TokenRun pending;  // what does not fill a block yet
  // Since the mark before: place among the inputs, and what came.
  std::vector<std::pair<std::size_t, PackCount>> counts;
  std::vector<PackReader::Input> inputs;  // with `complete` alone
};

// Lines with their newlines.
std::string encode_plan(std::string_view plan_json);
std::string encode_mark(const PackMark& mark);

// Reads a journal from its first line on. Memory: one line, at most limits::kJournalLineBytes.
class JournalReader {
 public:
  // `file` outlives this.
  explicit JournalReader(WorkFile& file) : file_(file) {}
  // The JSON text that encode_plan() was given; comes first. Errc::corrupt where not even this line
  // is whole.
  Result<std::string> plan();
  // Nothing from the first line on that is torn or damaged: what follows it counts for nothing.
  Result<std::optional<PackMark>> next();
  std::uint64_t at() const { return at_; }  // behind the line that came last

 private:
  Result<std::optional<std::string>> line();

  WorkFile& file_;
  std::uint64_t at_ = 0, read_ = 0;
  std::string held_;  // from at_ on
};

}  // namespace muster
