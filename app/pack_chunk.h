#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "app/pack_encoder.h"
#include "app/pack_journal.h"
#include "app/pack_reader.h"
#include "core/blocks/block_hash.h"
#include "core/records/jsonl_records.h"

namespace muster {

// What became of a chunk.
struct PackedChunk {
  std::uint64_t index = 0;
  blocks::Hash128 hash;  // of its bytes
  std::uint64_t text_bytes = 0, file_bytes = 0;
  blocks::TokenRun run;
  std::uint64_t eos_added = 0;
  std::vector<PackFault> faults;                                 // in the order of inputs and lines
  std::vector<std::pair<std::size_t, std::uint64_t>> documents;  // of each input that gave some
};

// Chunks -> tokens. One for each thread.
class ChunkWorker final : records::RecordSink {
 public:
  ChunkWorker(records::JsonlOptions options, std::optional<records::TextSplit> split,
              PackEncoder encoder)
      : jsonl_(std::move(options)), split_(std::move(split)), encoder_(std::move(encoder)) {}

  // Without `encode` only the hash is taken.
  PackedChunk work(PackChunk&& chunk, bool encode);

 private:
  void document(records::Document&& document, std::uint64_t line) override;
  void fault(records::Fault fault, std::uint64_t line, const std::string& detail) override;

  records::JsonlReader jsonl_;
  std::optional<records::TextSplit> split_;
  PackEncoder encoder_;
  PackedChunk made_;
  std::size_t input_ = 0;
};

}  // namespace muster
