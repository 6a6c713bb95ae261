#include "app/pack_chunk.h"

#include <algorithm>
#include <tuple>

namespace muster {

PackedChunk ChunkWorker::work(PackChunk&& chunk, bool encode) {
  made_ = {};
  made_.index = chunk.index;
  made_.hash = blocks::hash_bytes(chunk.bytes);
  made_.text_bytes = chunk.text_bytes;
  made_.file_bytes = chunk.file_bytes;
  if (!encode) return std::move(made_);
  const std::uint64_t eos_before = encoder_.eos_added();
  made_.faults = std::move(chunk.faults);
  const std::string_view bytes = chunk.bytes;
  for (const PackPiece& piece : chunk.pieces) {
    input_ = piece.input;
    const std::string_view part = bytes.substr(piece.begin, piece.end - piece.begin);
    if (piece.format == PackFormat::json_lines) {
      jsonl_.read(part, piece.first_line, *this);
    } else {
      records::read_text(part, split_.value_or(records::TextSplit{}), piece.first_line, *this);
    }
  }
  made_.eos_added = encoder_.eos_added() - eos_before;
  std::stable_sort(made_.faults.begin(), made_.faults.end(),
                   [](const PackFault& a, const PackFault& b) {
                     return std::tie(a.input, a.line) < std::tie(b.input, b.line);
                   });
  return std::move(made_);
}

void ChunkWorker::document(records::Document&& document, std::uint64_t line) {
  const Status added = encoder_.add(std::move(document), made_.run);
  if (!added) return fault(records::Fault::not_encoded, line, added.error().context);
  if (made_.documents.empty() || made_.documents.back().first != input_) {
    made_.documents.emplace_back(input_, 0);
  }
  ++made_.documents.back().second;
}

void ChunkWorker::fault(records::Fault fault, std::uint64_t line, const std::string& detail) {
  made_.faults.push_back({input_, line, fault, detail});
}

}  // namespace muster
