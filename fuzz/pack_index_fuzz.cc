// Any bytes as an index of Megatron-LM (its head, then sequences) and as the head of a .npy.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "core/blocks/megatron_index.h"
#include "core/blocks/npy_header.h"

namespace {

using namespace muster::blocks;

template <typename T>
std::vector<T> numbers(std::string_view bytes, std::uint64_t at, std::uint64_t count) {
  std::vector<T> out(count);
  if (count > 0) std::memcpy(out.data(), bytes.data() + at, count * sizeof(T));
  return out;
}

void index(std::string_view bytes) {
  const auto index = parse_megatron_index(bytes.substr(0, kMegatronHeaderBytes), bytes.size());
  if (!index) return;
  MUSTER_CHECK(index->end() == bytes.size(), "all of it is told");
  MUSTER_CHECK(megatron_header(*index) == bytes.substr(0, kMegatronHeaderBytes), "it reads back");
  MegatronSequences check(*index, 4096);
  muster::Status fine =
      check.add(numbers<std::int32_t>(bytes, index->sizes_at(), index->sequences),
                numbers<std::int64_t>(bytes, index->pointers_at(), index->sequences));
  if (fine) {
    fine = check.add_documents(
        numbers<std::int64_t>(bytes, index->documents_at(), index->document_entries));
  }
  if (fine) fine = check.finish();
  MUSTER_CHECK(fine || !fine.error().context.empty(), "a failure has a reason");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  index(bytes);
  const auto header = parse_npy_header(bytes.substr(0, kNpyHeadBytes), bytes.size());
  if (header) {
    MUSTER_CHECK(header->data_at + header->ids() * id_bytes(header->type) == bytes.size(),
                 "all of it is told");
    std::vector<std::int32_t> ids;
    const auto data_bytes = bytes.substr(header->data_at);
    if (append_ids(header->type, data_bytes, ids)) {
      MUSTER_CHECK(std::all_of(ids.begin(), ids.end(), [](std::int32_t id) { return id >= 0; }),
                   "ids are not negative");
    }
  }
  return 0;
}
