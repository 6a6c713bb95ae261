#include "train/run/rank_data.h"

#include <fmt/core.h>

#include <map>
#include <optional>

#include "base/text.h"
#include "core/blocks/pack_manifest.h"
#include "edge/os/files.h"
#include "train/data/pack_blocks.h"
#include "train/data/rank_file_blocks.h"

namespace muster::train {
namespace {

constexpr std::string_view kEnding = ".i32";

std::optional<std::uint64_t> last_number(std::string_view stem) {
  const std::size_t end = stem.find_last_of("0123456789");
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && stem[begin - 1] >= '0' && stem[begin - 1] <= '9') --begin;
  return parse_uint(stem.substr(begin, end + 1 - begin));
}

}  // namespace

Result<std::string> name_of_rank(const std::vector<std::string>& names, std::uint64_t rank,
                                 std::uint64_t world) {
  std::map<std::uint64_t, std::string> numbered;
  std::size_t files = 0;
  for (const std::string& name : names) {
    if (!name.ends_with(kEnding)) continue;
    ++files;
    const auto number = last_number(std::string_view(name).substr(0, name.size() - 4));
    if (number) numbered.emplace(*number, name);
  }
  const bool all = numbered.size() == world && numbered.rbegin()->first == world - 1;
  if (files != world || !all) {
    return make_error(
        Errc::invalid_input,
        fmt::format("{} .i32 files for {} ranks; they are numbered from 0, such as rank00.i32",
                    files, world));
  }
  return numbered[rank];
}

Result<std::unique_ptr<BlockSource>> open_rank_data(const std::string& folder,
                                                    std::uint64_t block_tokens,
                                                    const StepCut& cut) {
  const auto names = real_files().list(folder);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (name == blocks::kManifestName) return open_pack_blocks(folder, cut);
  }
  const auto name = name_of_rank(*names, cut.rank, cut.world);
  if (!name) return within(folder, name.error());
  return open_rank_file(folder + "/" + *name, block_tokens, cut);
}

}  // namespace muster::train
