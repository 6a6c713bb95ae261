#include "train/run/weights_digest.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "core/blocks/block_hash.h"
#include "edge/os/data_file.h"
#include "edge/os/files.h"

namespace muster::train {
namespace {

// A header of the largest models has some 100 KB; the samples of a file take 256 KB.
constexpr std::uint64_t kHeadBytes = 1024 * 1024, kSamples = 64, kSampleBytes = 4096;

Status add(blocks::RunningHash& hash, const DataReader& file, std::uint64_t at,
           std::uint64_t bytes) {
  std::string piece(std::min(bytes, file.bytes() - at), '\0');
  if (const Status read = file.read_at(at, piece); !read) return read;
  hash.add(piece);
  return {};
}

Status add_file(blocks::RunningHash& hash, const std::string& path, const std::string& name) {
  const auto file = DataReader::open(path);
  if (!file) return file.error();
  hash.add(fmt::format("{} {}\n", name, file->bytes()));
  if (const Status head = add(hash, *file, 0, kHeadBytes); !head) return head;
  // The last sample is the end of the file.
  const std::uint64_t last = file->bytes() - std::min(kSampleBytes, file->bytes());
  for (std::uint64_t i = 1; i <= kSamples; ++i) {
    if (const Status read = add(hash, *file, last / kSamples * i, kSampleBytes); !read) return read;
  }
  return add(hash, *file, last, kSampleBytes);
}

}  // namespace

Result<std::string> weights_digest(const std::string& model_folder) {
  const auto names = real_files().list(model_folder);
  if (!names) return names.error();
  blocks::RunningHash hash;
  bool found = false;
  for (const std::string& name : *names) {
    const bool weights = name.ends_with(".safetensors");
    if (!weights && !name.ends_with(".safetensors.index.json")) continue;
    found = found || weights;
    if (const Status read = add_file(hash, model_folder + "/" + name, name); !read) {
      return read.error();
    }
  }
  if (!found) return make_error(Errc::not_found, model_folder + ": no .safetensors is there");
  return fmt::format("{:016x}", hash.value().low);
}

}  // namespace muster::train
