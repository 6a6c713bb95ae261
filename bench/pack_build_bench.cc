// How fast inputs become a pack, and what all but the tokenizer costs.
//   pack_build_bench TOKENIZER.json FILE...    real text, on one thread and on two
//   pack_build_bench                           the same of MUSTER_TOKENIZERS/qwen3/tokenizer.json
//   and
//                                              MUSTER_CORPUS/{en,ko,zh,code}.jsonl

#include <fmt/core.h>
#include <stdlib.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "app/pack_build.h"
#include "app/pack_vocabulary.h"
#include "edge/os/self_usage.h"

namespace {

// As good as free: four bytes are one id.
class NoEncoder final : public muster::TextEncoder {
 public:
  muster::Status encode(std::string_view utf8, std::span<const muster::ByteRange>,
                        std::vector<std::int32_t>& out) override {
    out.resize(out.size() + utf8.size() / 4 + 1, 7);
    return {};
  }
  muster::Status encode_with_starts(std::string_view utf8, std::span<const muster::ByteRange> plain,
                                    std::vector<std::int32_t>& out,
                                    std::vector<std::uint64_t>& starts) override {
    const std::size_t before = out.size();
    const muster::Status done = encode(utf8, plain, out);
    for (std::size_t i = before; i < out.size(); ++i) starts.push_back(4 * (i - before));
    return done;
  }
};

void measure(const char* name, const muster::PackVocabulary& vocabulary,
             const std::vector<std::string>& paths, std::size_t threads,
             const std::string& folder) {
  muster::PackRequest request;
  request.paths = paths;
  request.out = folder + "/out";
  request.threads = threads;
  const auto begin = std::chrono::steady_clock::now();
  const double cpu = muster::read_self_usage().cpu_seconds;
  const auto result = muster::build_pack(request, vocabulary, muster::real_files(),
                                         muster::real_work_folders(), {}, {});
  if (!result) {
    fmt::print(stderr, "{}\n", result.error().context);
    std::exit(70);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double used = muster::read_self_usage().cpu_seconds - cpu;
  const double mb = static_cast<double>(result->text_bytes) / 1e6;
  fmt::print("{:<10} {} threads  {:7.1f} MB/s  {:7.1f} MB/s of CPU  {:6.2f} Mtok/s  {:5.0f} MiB\n",
             name, threads, mb / seconds, mb / used,
             static_cast<double>(result->manifest.document_tokens) / 1e6 / seconds,
             static_cast<double>(muster::read_self_usage().resident_bytes) / (1 << 20));
  std::filesystem::remove_all(request.out);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + std::min(argc, 2), argv + argc);
  std::string tokenizer = argc > 1 ? argv[1] : "";
  const char* tokenizers = std::getenv("MUSTER_TOKENIZERS");
  const char* corpus = std::getenv("MUSTER_CORPUS");
  if (tokenizer.empty() && tokenizers != nullptr && corpus != nullptr) {
    tokenizer = std::string(tokenizers) + "/qwen3/tokenizer.json";
    for (const char* kind : {"en", "ko", "zh", "code"}) {
      paths.push_back(fmt::format("{}/{}.jsonl", corpus, kind));
    }
  }
  if (paths.empty()) {
    fmt::print("pack_build: not measured; MUSTER_TOKENIZERS and MUSTER_CORPUS name no text\n");
    return 0;
  }
  const auto loaded = muster::load_pack_vocabulary({tokenizer, ""}, muster::real_files());
  if (!loaded) {
    fmt::print(stderr, "{}\n", loaded.error().context);
    return 65;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "muster_bench_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 74;
  muster::PackVocabulary nothing = loaded->vocabulary;
  nothing.make_encoder = [] { return std::make_unique<NoEncoder>(); };
  for (const std::size_t threads : {1U, 2U}) {
    measure("all", loaded->vocabulary, paths, threads, folder);
    measure("around", nothing, paths, threads, folder);
  }
  std::filesystem::remove_all(folder);
  return 0;
}
