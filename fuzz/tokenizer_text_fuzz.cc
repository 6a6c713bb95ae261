// Any bytes as a text, with the small vocabulary that the first byte names: all ways of splitting,
// of merging and a cache that has seen everything give the same ids, and these the normalised text.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "core/tokens/bpe.h"
#include "core/tokens/cutter.h"
#include "core/tokens/model.h"
#include "core/tokens/nfc.h"
#include "core/tokens/piece_splitter.h"
#include "core/tokens/tokenizer.h"
#include "core/tokens/tokenizer_json.h"
#include "edge/os/files.h"

namespace {

using muster::tokens::PieceSplitter;
using muster::tokens::Simd;
using muster::tokens::SplitFamily;

constexpr std::size_t kMost = 1 << 20;
constexpr std::array<const char*, 4> kNames = {"qwen2", "llama3", "o200k", "deepseek_v3"};

struct Subject {
  std::unique_ptr<const muster::Tokenizer> tokenizer;
  std::unique_ptr<muster::Encoder> old;
  std::unique_ptr<const muster::tokens::Model> model;
};

Subject load(const char* name) {
  const std::string path =
      std::string(MUSTER_SOURCE_DIR) + "/testdata/tokenizers/" + name + ".json";
  const auto json = muster::read_whole(muster::real_files(), path, kMost);
  MUSTER_CHECK(json.has_value(), "testdata/tokenizers");
  auto tokenizer = muster::Tokenizer::from_json(*json);
  MUSTER_CHECK(tokenizer.has_value(), "a small vocabulary");
  Subject subject{std::move(*tokenizer), nullptr, nullptr};
  subject.old = std::make_unique<muster::Encoder>(*subject.tokenizer);
  auto model = muster::tokens::read_tokenizer_json(*json, nullptr);
  MUSTER_CHECK(model.has_value() && (*model)->cuts, "merges in order");
  subject.model = std::move(*model);
  return subject;
}

std::vector<std::uint32_t> all_ends(SplitFamily family, Simd simd, std::string_view text) {
  const PieceSplitter splitter(family, simd);
  std::vector<std::uint32_t> all, some(PieceSplitter::kMost);
  for (std::size_t at = 0; at < text.size(); at = all.back()) {
    const std::size_t count = splitter.split(text, at, some.data());
    all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return all;
}

// Each piece as merging leaves it and as it is cut.
void compare_merges(const muster::tokens::Model& model, std::string_view text,
                    const std::vector<std::uint32_t>& ends) {
  muster::tokens::Cutter cutter(*model.cuts, model.merges);
  muster::tokens::Merger merger(model.merges, model.byte_ids);
  std::vector<std::uint32_t> merged;
  std::size_t at = 0;
  for (const std::uint32_t end : ends) {
    cutter.add(text.substr(at, end - at));
    at = end;
  }
  cutter.run();
  at = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    merged.clear();
    merger.merge(text.substr(at, ends[i] - at), merged);
    const auto cut = cutter.ids(i);
    MUSTER_CHECK(std::equal(cut.begin(), cut.end(), merged.begin(), merged.end()), "one answer");
    at = ends[i];
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array<Subject, 4> kSubjects = {load(kNames[0]), load(kNames[1]),
                                                   load(kNames[2]), load(kNames[3])};
  if (size == 0) return 0;
  const std::size_t which = data[0] % kSubjects.size();
  const Subject& subject = kSubjects[which];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::int32_t> ids, again;
  if (!subject.old->encode(text, {}, ids)) return 0;
  muster::Encoder fresh(*subject.tokenizer);
  std::vector<std::uint64_t> starts;
  MUSTER_CHECK(fresh.encode_with_starts(text, {}, again, starts).has_value(), "as before");
  MUSTER_CHECK(ids == again && starts.size() == ids.size(), "the cache changes nothing");
  std::vector<muster::tokens::ChangedRun> changed;
  const std::string expected =
      which == 0 ? muster::tokens::to_nfc(text, changed) : std::string(text);
  const auto decoded = subject.tokenizer->decode(ids);
  // Text around an added token is normalised for itself.
  const bool cut = text.find('<') != std::string_view::npos;
  MUSTER_CHECK(decoded.has_value() && (cut || *decoded == expected), "no byte is lost");
  const auto family = static_cast<SplitFamily>(which);
  const auto plain = all_ends(family, Simd::none, text);
  compare_merges(*subject.model, text, plain);
  for (const Simd simd : {Simd::avx2, Simd::avx512}) {
    if (simd > muster::tokens::best_simd()) break;
    MUSTER_CHECK(all_ends(family, simd, text) == plain, "all ways are one");
  }
  return 0;
}
