#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/pack_build.h"
#include "base/result.h"
#include "core/blocks/pack_manifest.h"
#include "core/storage/data_path.h"
#include "edge/os/clock.h"
#include "edge/os/data_file.h"
#include "edge/os/files.h"

// The two ways of the tokens of a step to a trainer, as they are measured: each of them is run
// until its time is over, its data are at their end, or it has read as much as it was told.

namespace muster {

struct ArmBounds {
  std::uint64_t step_tokens = 0;
  Duration length{};                       // at most
  std::optional<std::uint64_t> most = {};  // chunks of text, steps of blocks
  std::stop_token stop;
};

struct ArmOutcome {
  storage::ArmRun run;
  std::uint64_t parts = 0;         // chunks of text, steps of blocks
  std::uint64_t lost_records = 0;  // that gave no document
};

struct TextArm {
  std::vector<std::string> paths;
  std::string field;
  std::optional<records::TextSplit> split;
  std::size_t threads = 1;
};

// Reads the files in order and tokenizes, on `threads` threads that take a chunk each; the tokens
// are counted and let go. `ticks` grows with each chunk. An input that cannot be read is the
// answer.
Result<ArmOutcome> run_text_arm(const TextArm& arm, const PackVocabulary& vocabulary,
                                const ArmBounds& bounds, Files& files, Clock& clock,
                                std::atomic<std::uint64_t>& ticks);

// Reads the blocks of the steps of an epoch in its shuffled order, by one thread, as a loader does.
// `ticks` grows with each step.
Result<ArmOutcome> run_packed_arm(const DataReader& blocks, const blocks::PackManifest& manifest,
                                  const ArmBounds& bounds, Clock& clock,
                                  std::atomic<std::uint64_t>& ticks);

}  // namespace muster
