#include "app/open_pack.h"

#include <fmt/core.h>

#include <utility>

#include "base/limits.h"
#include "base/memory_bytes.h"
#include "core/blocks/loss_bits.h"
#include "edge/os/files.h"

namespace muster {
namespace {

constexpr std::size_t kBlocks = 0, kEnds = 1, kLoss = 2, kHashes = 3;

}  // namespace

OpenPack::OpenPack(blocks::PackManifest manifest, std::uint64_t manifest_bytes,
                   std::vector<DataReader> files)
    : manifest_(std::move(manifest)), manifest_bytes_(manifest_bytes), files_(std::move(files)) {}

Result<OpenPack> OpenPack::open(const std::string& folder, std::string& damaged) {
  const std::string path = folder + "/" + std::string(blocks::kManifestName);
  // A pipe in its place would be waited for.
  if (const auto there = real_files().stat(path); there && there->type != FileInfo::Type::file) {
    damaged = path;
    return make_error(Errc::corrupt, path + ": not a regular file");
  }
  const auto text = read_whole(real_files(), path, limits::kContractBytes);
  if (!text) {
    const bool none = text.error().code == Errc::not_found;
    return none ? make_error(Errc::not_found, folder + ": no pack: it has no manifest.json")
                : text.error();
  }
  auto manifest = blocks::decode_manifest(*text);
  if (!manifest) {
    damaged = path;
    return within(path, manifest.error());
  }
  const std::pair<std::string_view, std::uint64_t> sizes[] = {
      {blocks::kBlocksName, manifest->tokens() * 4},
      {blocks::kDocEndsName, manifest->pieces * 8},
      {blocks::kLossBitsName, blocks::loss_bytes(manifest->tokens())},
      {blocks::kHashesName, manifest->blocks * 8},
  };
  std::vector<DataReader> files;
  for (const auto& [name, bytes] : sizes) {
    const std::string file_path = folder + "/" + std::string(name);
    auto file = DataReader::open(file_path);
    const Errc fault = file ? Errc::corrupt : file.error().code;
    if (!file && fault != Errc::not_found && fault != Errc::invalid_input) return file.error();
    if (!file || file->bytes() != bytes) {
      damaged = file_path;
      return make_error(
          Errc::corrupt,
          !file
              ? file_path + (fault == Errc::not_found ? ": is not there" : ": not a regular file")
              : fmt::format("{}: {} bytes, the manifest says {}", file_path, file->bytes(), bytes));
    }
    files.push_back(std::move(*file));
  }
  return OpenPack(std::move(*manifest), text->size(), std::move(files));
}

Status OpenPack::read_blocks(std::uint64_t first, std::uint64_t count,
                             std::vector<std::int32_t>& ids,
                             std::vector<std::uint8_t>& loss) const {
  const std::uint64_t length = manifest_.block_tokens;
  ids.resize(count * length);
  loss.resize(count * length / 8);
  Status read = files_[kBlocks].read_at(first * length * 4, writable_bytes(std::span(ids)));
  return read ? files_[kLoss].read_at(first * length / 8, writable_bytes(std::span(loss))) : read;
}

Status OpenPack::read_ends(std::uint64_t first, std::span<std::uint64_t> out) const {
  return files_[kEnds].read_at(first * 8, writable_bytes(out));
}

Status OpenPack::read_hashes(std::uint64_t first, std::span<std::uint64_t> out) const {
  return files_[kHashes].read_at(first * 8, writable_bytes(out));
}

Status OpenPack::read_loss(std::uint64_t first_byte, std::span<char> out) const {
  return files_[kLoss].read_at(first_byte, out);
}

Result<std::uint64_t> OpenPack::first_end_beyond(std::uint64_t token) const {
  std::uint64_t low = 0, high = manifest_.pieces;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    std::uint64_t end = 0;
    if (Status read = read_ends(middle, {&end, 1}); !read) return read.error();
    if (end > token) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace muster
