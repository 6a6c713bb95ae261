#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "edge/os/files.h"

namespace muster {

struct EncodeRequest {
  std::string tokenizer;  // a tokenizer.json
  std::string input;      // JSON lines, also packed; "-": standard input
  std::string field;      // empty: "text"
};

struct EncodeTotal {
  std::uint64_t records = 0, ids = 0;
  std::uint64_t lost = 0;  // records that were complained of
};

struct EncodeSinks {
  // One record: the line that it stands on, from 1, and its ids; a text of no bytes has none. An
  // Error ends the run.
  std::function<Status(std::uint64_t line, std::span<const std::int32_t> ids)> record;
  // One sentence for each record that is lost: "in.jsonl: line 7: no JSON object: ...".
  std::function<void(const std::string&)> complain;
};

// Text of each record -> its ids, in order. Added tokens in a text become their ids, as with
// Hugging Face's library; nothing is put in front or behind. Memory is bounded by the longest line.
// Fails where a file cannot be read or the tokenizer is refused; `sinks.record` has seen what came
// before.
Result<EncodeTotal> encode_records(const EncodeRequest& request, const EncodeSinks& sinks,
                                   Files& files);

// The same into two new files: `out`, ids as little-endian int32 back to back, and `out`.len, for
// each record how many they are, as u32. Both appear whole or not at all, and nothing that is there
// is replaced.
Result<EncodeTotal> encode_into(const EncodeRequest& request, const std::string& out,
                                const std::function<void(const std::string&)>& complain,
                                Files& files);

}  // namespace muster
