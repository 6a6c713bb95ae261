#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/blocks/pack_manifest.h"
#include "core/blocks/token_run.h"

namespace muster {

// Ids of another program as runs of documents, in order.
class PackSource {
 public:
  virtual ~PackSource() = default;
  virtual std::uint64_t tokens() const = 0;  // in all
  // The next run, of a few MiB; one without ids and ends is the end.
  virtual Status next(blocks::TokenRun& run) = 0;
  // Ends of documents are known.
  virtual bool knows_documents() const = 0;
  virtual std::vector<blocks::PackInput> inputs() const = 0;
  // Behind the last whole block of per-rank files: who wrote them had no use for these either.
  virtual std::uint64_t left_out_bytes() const = 0;
};

struct PackSourceOptions {
  std::uint64_t block_tokens = 2048;  // whole ones are read of per-rank files
  std::optional<std::int32_t> eos;
};

// As `convert_pack()` says. Errc::invalid_input for what is none of these.
Result<std::unique_ptr<PackSource>> open_pack_source(const std::vector<std::string>& paths,
                                                     const PackSourceOptions& options);

}  // namespace muster
