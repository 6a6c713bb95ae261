// Any bytes as a file of a checkpoint, its name chosen by the first byte: what is asked to be read
// lies in the file and is bounded, and what is called whole is what its header says.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/limits.h"
#include "core/checkpoint/file_examiner.h"
#include "core/checkpoint/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::checkpoint;
  static constexpr const char* kNames[] = {
      "model.safetensors",  "optimizer.pt", "model.safetensors.index.json", ".metadata",
      "trainer_state.json", "__0_0.distcp", "muster-checkpoint.json",       "latest"};
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  FileExaminer examiner(kNames[data[0] % 8], bytes.size());
  int pieces = 0;
  while (const auto piece = examiner.wanted()) {
    MUSTER_CHECK(++pieces < 5, "it comes to an end");
    MUSTER_CHECK(piece->bytes <= muster::limits::kContractBytes, "pieces are bounded");
    MUSTER_CHECK(piece->offset + piece->bytes <= bytes.size(), "pieces lie in the file");
    examiner.give(bytes.substr(piece->offset, piece->bytes));
  }
  const FileFacts facts = examiner.take();
  if (facts.kind == FileKind::safetensors && facts.state == FileState::sound) {
    auto header = parse_safetensors(bytes);
    MUSTER_CHECK(header && header->file_bytes() == bytes.size(), "sound is whole");
    for (const SavedTensor& tensor : header->tensors) {
      if (!tensor_bits(tensor.dtype)) return 0;  // only known types are written
    }
    const auto again = parse_safetensors(encode_safetensors(header->tensors, header->metadata));
    MUSTER_CHECK(again && again->tensors.size() == header->tensors.size(), "it writes back");
  }
  if (facts.manifest) {
    const auto again = decode_checkpoint_manifest(encode_checkpoint_manifest(*facts.manifest));
    MUSTER_CHECK(again && *again == *facts.manifest, "a manifest reads back");
  }
  (void)read_trainer_state(bytes);
  return 0;
}
