// How fast text becomes ids, cold: every round starts with an empty cache.
//   tokens_bench TOKENIZER.json FILE.jsonl...     medians of five rounds, on one thread and on two
//   tokens_bench                                  the same of
//   MUSTER_TOKENIZERS/qwen3/tokenizer.json
//                                                 and MUSTER_CORPUS/{en,ko,zh,code}.jsonl
// bench/tokens.sh runs Hugging Face's library beside it, round by round.

#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "core/records/jsonl_records.h"
#include "core/tokens/tokenizer.h"
#include "edge/os/files.h"
#include "edge/os/huge_pages.h"

namespace {

using muster::Encoder;
using muster::Tokenizer;

constexpr std::size_t kMost = std::size_t{1} << 30;
constexpr std::size_t kRounds = 5;

std::string whole(const std::string& path) {
  auto bytes = muster::read_whole(muster::real_files(), path, kMost);
  if (bytes) return std::move(*bytes);
  fmt::print(stderr, "{}\n", bytes.error().context);
  std::exit(65);
}

class Texts final : public muster::records::RecordSink {
 public:
  explicit Texts(const std::string& path) {
    std::string bytes = whole(path);
    const std::size_t size = bytes.size();
    bytes.append(muster::records::kRecordPadding, '\0');
    muster::records::JsonlReader reader({});
    reader.read(std::string_view(bytes).substr(0, size), 1, *this);
  }
  void document(muster::records::Document&& document, std::uint64_t) override {
    bytes_ += document.text.size();
    texts_.push_back(std::move(document.text));
  }
  void fault(muster::records::Fault, std::uint64_t, const std::string&) override {}

  std::size_t bytes() const { return bytes_; }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::size_t bytes_ = 0;
  std::vector<std::string> texts_;
};

struct Round {
  double seconds = 0;
  double own_seconds =
      0;  // of the processor, of the first thread: what a busy machine leaves alone
  std::size_t ids = 0;
};

double own_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Each thread takes every `threads`-th document.
Round encode(const Tokenizer& tokenizer, const std::vector<std::string>& texts,
             std::size_t threads) {
  std::vector<std::size_t> counts(threads);
  const auto work = [&](std::size_t first) {
    Encoder encoder(tokenizer);
    std::vector<std::int32_t> ids;
    for (std::size_t i = first; i < texts.size(); i += threads) {
      ids.clear();
      if (!encoder.encode(texts[i], {}, ids)) std::exit(70);
      counts[first] += ids.size();
    }
  };
  const double own = own_seconds();
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work, i);
  work(0);
  for (std::thread& other : others) other.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  Round round{took.count(), own_seconds() - own, 0};
  for (const std::size_t count : counts) round.ids += count;
  return round;
}

double median(std::array<double, kRounds> values) {
  std::sort(values.begin(), values.end());
  return values[kRounds / 2];
}

Round typical(const Tokenizer& tokenizer, const std::vector<std::string>& texts,
              std::size_t threads) {
  std::array<double, kRounds> seconds{}, own{};
  std::size_t ids = 0;
  for (std::size_t i = 0; i < kRounds; ++i) {
    const Round round = encode(tokenizer, texts, threads);
    seconds[i] = round.seconds;
    own[i] = round.own_seconds;
    ids = round.ids;
  }
  return {median(seconds), median(own), ids};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  const char* tokenizers = std::getenv("MUSTER_TOKENIZERS");
  const char* corpus = std::getenv("MUSTER_CORPUS");
  if (paths.empty() && tokenizers != nullptr && corpus != nullptr) {
    paths.push_back(std::string(tokenizers) + "/qwen3/tokenizer.json");
    for (const char* kind : {"en", "ko", "zh", "code"}) {
      paths.push_back(fmt::format("{}/{}.jsonl", corpus, kind));
    }
  }
  if (paths.size() < 2) {
    fmt::print(
        "tokens_bench: name a tokenizer.json and texts, or set MUSTER_TOKENIZERS and "
        "MUSTER_CORPUS (tests/tokenizers/README.md)\n");
    return 0;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto tokenizer = Tokenizer::from_json(whole(paths[0]), muster::prefer_huge_pages);
  if (!tokenizer) {
    fmt::print(stderr, "{}: {}\n", paths[0], tokenizer.error().context);
    return 65;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("loaded in {:.0f} ms\n", took.count() * 1e3);
  for (std::size_t i = 1; i < paths.size(); ++i) {
    const Texts texts(paths[i]);
    const Round one = typical(**tokenizer, texts.texts(), 1);
    const Round two = typical(**tokenizer, texts.texts(), 2);
    const double megabytes = static_cast<double>(texts.bytes()) / 1e6;
    fmt::print(
        "{} {:.1f} MB, {} ids: {:.1f} MB/s ({:.1f} MB a second of the processor), on two "
        "threads {:.1f} MB/s ({:.2f} x)\n",
        paths[i], megabytes, one.ids, megabytes / one.seconds, megabytes / one.own_seconds,
        megabytes / two.seconds, one.seconds / two.seconds);
  }
}
