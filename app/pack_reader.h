#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/records/record.h"
#include "core/records/text_records.h"
#include "edge/os/files.h"

namespace muster {

// What an input is, by its first bytes (decompressed, where they are compressed).
enum class PackFormat : std::uint8_t { json_lines, text };

// A part of a chunk: whole records of one input.
struct PackPiece {
  std::size_t input = 0;  // place among the paths
  PackFormat format = PackFormat::json_lines;
  std::size_t begin = 0, end = 0;  // in the bytes of the chunk
  std::uint64_t first_line = 1;
};

struct PackFault {
  std::size_t input = 0;
  std::uint64_t line = 0;
  records::Fault fault = records::Fault::not_json;
  std::string detail;
};

struct PackChunk {
  std::uint64_t index = 0;
  std::string bytes;             // of all pieces, and records::kRecordPadding behind them
  std::size_t text_bytes = 0;    // without the padding
  std::uint64_t file_bytes = 0;  // read of all files until here, as they lie on the disk
  std::vector<PackPiece> pieces;
  std::vector<PackFault> faults;  // seen while cutting
};

struct PackReaderOptions {
  std::optional<records::TextSplit> split = {};  // all inputs are plain text, split so
  std::string field =
      {};  // of tables of columns (edge/columns/column_stream.h), whose rows are lines
  std::size_t chunk_bytes = 4 * 1024 * 1024;
};

// The inputs in the order of their paths, decompressed, in chunks of whole records. Where chunks
// end depends on the bytes, the paths and the options alone, never on how reads came.
//
// Lines and documents longer than limits::kRecordBytes are passed over and told. Of an input that
// is cut or damaged (compressed files tell) the last, torn record is dropped and told: Fault::cut.
// Memory: one chunk and one record.
class PackReader {
 public:
  // `files` outlives this. Once `stop` is asked for, next() gives Errc::unavailable, also while it
  // waits for a pipe.
  PackReader(Files& files, std::vector<std::string> paths, PackReaderOptions options,
             std::stop_token stop);
  ~PackReader();

  // Nothing at the end. An input that cannot be opened or read is an Error: what would be missing
  // is not known to be small.
  Result<std::optional<PackChunk>> next();

  struct Input {
    std::uint64_t bytes = 0;  // as it lies on the disk
    std::string hash;         // hash_text() of them
  };
  // Of the inputs that have ended, in their order.
  const std::vector<Input>& ended() const { return ended_; }

 private:
  struct Open;
  Result<bool> open_next();
  Status fill(std::size_t bytes);
  Status know_format();
  Status open_columns_here();
  Status take_piece(PackChunk& chunk);
  Status skip_record(PackChunk& chunk);
  void cut_off(std::size_t bytes, PackChunk& chunk);
  void drop_torn_end(PackChunk& chunk);
  void close();

  Files& files_;
  std::vector<std::string> paths_;
  PackReaderOptions options_;
  std::stop_token stop_;
  std::unique_ptr<Open> open_;
  std::vector<Input> ended_;
  std::uint64_t file_bytes_ = 0, chunks_ = 0;
};

// What the first bytes of an input say; Errc::unsupported, with the way out, for what is no text
// and no JSON lines: archives, tables, UTF-16, a JSON array.
Result<PackFormat> pack_format(std::string_view head);

// Looks at the head of each, so that a wrong one is told before hours of work. Standard input and
// pipes are left alone.
Status check_pack_inputs(Files& files, const std::vector<std::string>& paths,
                         const PackReaderOptions& options);

}  // namespace muster
