#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "app/pack_encoder.h"
#include "app/pack_journal.h"
#include "base/result.h"
#include "core/blocks/pack_manifest.h"
#include "core/records/chat_template.h"
#include "core/records/text_records.h"
#include "edge/os/files.h"
#include "edge/os/work_folder.h"

namespace muster {

// What a build needs of a tokenizer (pack_vocabulary.h makes it of a tokenizer.json).
struct PackVocabulary {
  std::function<std::unique_ptr<TextEncoder>()> make_encoder;  // called once for each thread
  std::function<Result<std::string>(std::span<const std::int32_t>)> decode;
  std::string hash;         // of the tokenizer's file
  std::uint64_t count = 0;  // ids are below
  EosRule eos;
  std::int32_t pad = 0;  // fills blocks of best_fit
  std::optional<records::ChatTemplate> chat;
  std::string why_no_chat;
};

struct PackRequest {
  std::vector<std::string> paths;  // files, folders (all files in them, by name), "-"
  std::string out;                 // the folder of the pack; until it is whole, OUT.part
  std::string field;               // JsonlOptions::field
  std::optional<records::TextSplit> split = {};  // all inputs are plain text, split so
  PackSpecials specials = PackSpecials::usual;
  std::uint32_t block_tokens = 2048;  // a multiple of 8, at most limits::kPackBlockTokens
  blocks::PackMode mode = blocks::PackMode::concat;
  // Told to the manifest.
  std::optional<std::uint64_t> global_batch = {};
  blocks::Remainder remainder = blocks::Remainder::drop;
  std::size_t threads = 1;
  bool resume = false;  // go on with OUT.part, where there is one
  // Parts that one thread takes at a time, and how much of the text may be done twice after a
  // break; marks cost a sync of all files.
  std::size_t chunk_bytes = 4 * 1024 * 1024;
  std::size_t mark_bytes = 256 * 1024 * 1024;
};

struct PackProgress {
  std::uint64_t file_bytes = 0;  // read, as files lie on the disk
  std::uint64_t of_bytes = 0;    // of all files; 0: a pipe is among them
  std::uint64_t text_bytes = 0;  // tokenized by this process
  std::uint64_t documents = 0, tokens = 0, errors = 0;
  bool again = false;  // what an earlier build did is read and compared
};

struct PackResult {
  blocks::PackManifest manifest;
  PackCount count;                        // over all inputs
  std::vector<std::string> first_errors;  // lines of errors.jsonl, the first ones
  std::uint64_t text_bytes = 0;
  bool resumed = false;
};

// Reads, tokenizes and packs. The same bytes for any number of threads, and after any breaks. What
// is in the pack and what is not is counted to the last record and token (PackManifest), and each
// record that gave no document is named in errors.jsonl beside the manifest.
//
// Memory: the window of chunks between reader and writer (2 for each thread and 2), with
// best_fit 48 bytes a document as well.
//
// A process that dies leaves OUT.part, from which the same request with `resume` goes on: it reads
// the inputs again and holds them against what the journal says of them. Errc::invalid_input where
// OUT or, without `resume`, OUT.part is there, or where inputs or options are others than those
// that OUT.part was begun with. Stopped by `stop` it is Errc::unavailable, and can go on. No
// document at all, or fewer tokens than one block, is Errc::not_found and leaves nothing.
Result<PackResult> build_pack(const PackRequest& request, const PackVocabulary& vocabulary,
                              Files& files, WorkFolders& folders,
                              const std::function<void(const PackProgress&)>& on_progress,
                              const std::stop_token& stop);

}  // namespace muster
