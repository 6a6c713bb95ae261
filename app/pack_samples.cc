#include "app/pack_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "app/pack_encoder.h"
#include "app/pack_pieces.h"
#include "app/pack_reader.h"
#include "base/limits.h"
#include "core/blocks/block_order.h"
#include "core/records/jsonl_records.h"
#include "core/records/text_records.h"
#include "core/tokens/nfc.h"

namespace muster {
namespace {

Error refuse(std::string text) {
  return make_error(Errc::invalid_input, std::move(text));
}

// How the texts of the pack were read, out of its manifest.
struct Reading {
  PackReaderOptions reader;
  records::JsonlOptions jsonl;
  PackSpecials specials = PackSpecials::usual;
};

Result<Reading> reading_of(const blocks::PackManifest& manifest, const PackVocabulary& vocabulary) {
  if (!manifest.tokenizer) return refuse("the pack was made of ids: there are no texts to compare");
  if (*manifest.tokenizer != vocabulary.hash || manifest.eos != vocabulary.eos.eos) {
    return refuse("--tokenizer is not that of the pack: their hashes differ");
  }
  const std::string chat(vocabulary.chat ? vocabulary.chat->name() : "");
  if (manifest.chat_template.value_or("") != chat) {
    return refuse("the chat template beside the tokenizer is not that of the pack");
  }
  Reading out;
  const auto word = std::find(std::begin(kPackSpecialsNames), std::end(kPackSpecialsNames),
                              manifest.specials.value_or(""));
  if (word == std::end(kPackSpecialsNames)) {
    return refuse("the pack does not tell how its texts were read: an older muster made it");
  }
  out.specials = static_cast<PackSpecials>(word - std::begin(kPackSpecialsNames));
  out.reader.field = manifest.field.value_or("");
  if (manifest.split) {
    auto split = records::TextSplit::parse(*manifest.split);
    if (!split) return split.error();
    out.reader.split = std::move(*split);
  }
  out.jsonl.field = out.reader.field;
  out.jsonl.chat = vocabulary.chat ? &*vocabulary.chat : nullptr;
  out.jsonl.why_no_chat = vocabulary.why_no_chat;
  out.jsonl.specials_in_chats = out.specials == PackSpecials::ids;
  return out;
}

// The numbers of the documents that are drawn, rising: of those with a piece. With concat these are
// the first ones, up to the tail.
std::vector<std::uint64_t> drawn(const blocks::PackManifest& manifest, std::uint64_t seed) {
  const std::uint64_t all =
      std::min({manifest.documents.value_or(0), manifest.pieces, limits::kPackBlocks});
  std::vector<std::uint64_t> out;
  if (all == 0) return out;
  const blocks::BlockOrder order(all, seed, 0);
  for (std::uint64_t i = 0; i < std::min(all, kSampledDocuments); ++i) out.push_back(order.at(i));
  std::sort(out.begin(), out.end());
  return out;
}

// One input after the other: its documents, and what is wrong with those that are drawn.
class Comparison final : public records::RecordSink {
 public:
  Comparison(const OpenPack& pack, const PackVocabulary& vocabulary, Reading reading, Files& files,
             std::uint64_t seed, const TokenProgress& progress)
      : manifest_(pack.manifest()),
        vocabulary_(vocabulary),
        reading_(std::move(reading)),
        files_(files),
        progress_(progress),
        encoder_(vocabulary.make_encoder(), vocabulary.eos, reading_.specials),
        jsonl_(reading_.jsonl),
        pieces_(pack),
        drawn_(drawn(manifest_, seed)) {}

  Result<PackSamples> run() {
    out_.documents = drawn_.size();
    for (const blocks::PackInput& input : manifest_.inputs) all_bytes_ += input.bytes;
    for (const blocks::PackInput& input : manifest_.inputs) {
      const std::uint64_t first = number_;
      const auto reason = compare(input);
      if (!reason) return reason.error();
      number_ = first + input.documents;
      const auto behind = std::lower_bound(drawn_.begin(), drawn_.end(), number_);
      next_ = static_cast<std::size_t>(behind - drawn_.begin());
      if (reason->empty()) {
        accept();
      } else {
        out_.blind.push_back({input.path, *reason, true});
      }
      found_ = {};
    }
    const auto missing = pieces_.first_missing();
    if (!missing) return missing.error();
    if (!out_.different) out_.different = *missing;
    return std::move(out_);
  }

 private:
  // What was found in an input, until it is known to be the one that was packed.
  struct Found {
    std::uint64_t documents = 0;
    std::vector<std::pair<blocks::TokenRun, Evidence>> runs;  // to be looked for anywhere
    std::optional<Evidence> different;
  };

  // Empty where the input is the one that was packed; else why nothing is known of it.
  Result<std::string> compare(const blocks::PackInput& input) {
    path_ = input.path;
    if (input.path == "-")
      return std::string("it came from standard input and cannot be read again");
    if (input.hash.empty()) return std::string("its hash was not taken when it was packed");
    const auto info = files_.stat(input.path);
    if (!info) return info.error().context;
    if (info->type != FileInfo::Type::file) return std::string("it is no file");
    if (info->bytes != input.bytes) {
      return fmt::format("it has {} bytes, and had {} when it was packed", info->bytes,
                         input.bytes);
    }
    PackReader reader(files_, {input.path}, reading_.reader, {});
    for (;;) {
      const auto chunk = reader.next();
      if (!chunk) return chunk.error().context;
      if (!*chunk) break;
      read(**chunk);
      if (failure_) return *failure_;
      const double share = static_cast<double>(done_bytes_ + (*chunk)->file_bytes) /
                           static_cast<double>(std::max<std::uint64_t>(1, all_bytes_));
      const auto tokens = static_cast<double>(manifest_.tokens());
      if (progress_ && !progress_(static_cast<std::uint64_t>(share * tokens), manifest_.tokens())) {
        return make_error(Errc::unavailable, "stopped");
      }
    }
    done_bytes_ += input.bytes;
    if (reader.ended().at(0).hash != input.hash) {
      return std::string("it has changed since it was packed: its hash is another");
    }
    if (found_.documents == input.documents) return std::string();
    return fmt::format("it gives {} documents, and gave {} when it was packed", found_.documents,
                       input.documents);
  }

  void read(const PackChunk& chunk) {
    const std::string_view bytes = chunk.bytes;
    for (const PackPiece& piece : chunk.pieces) {
      const std::string_view part = bytes.substr(piece.begin, piece.end - piece.begin);
      if (piece.format == PackFormat::json_lines) {
        jsonl_.read(part, piece.first_line, *this);
      } else {
        records::read_text(part, reading_.reader.split.value_or(records::TextSplit{}),
                           piece.first_line, *this);
      }
    }
  }

  void fault(records::Fault, std::uint64_t, const std::string&) override {}

  void document(records::Document&& document, std::uint64_t line) override {
    ++found_.documents;
    const std::uint64_t number = number_++;
    if (next_ == drawn_.size() || drawn_[next_] != number) return;
    ++next_;
    if (found_.different || failure_) return;
    blocks::TokenRun run;
    auto wrong = encode(std::move(document), run);
    if (wrong.empty() && manifest_.mode == blocks::PackMode::concat) {
      auto differs = pieces_.difference(number, run);
      if (!differs) failure_ = differs.error();
      if (differs) wrong = std::move(*differs);
      run.clear();
    }
    if (!wrong.empty()) {
      found_.different = Evidence{path_, line, fmt::format("document {}: {}", number, wrong)};
      return;
    }
    found_.runs.emplace_back(std::move(run), Evidence{path_, line, ""});
  }

  // What is wrong with the ids themselves; empty: nothing.
  std::string encode(records::Document&& document, blocks::TokenRun& run) {
    const std::string text = document.text;
    const std::uint64_t eos_before = encoder_.eos_added();
    const Status added = encoder_.add(std::move(document), run);
    if (!added) return "the tokenizer refuses it: " + added.error().context;
    const std::uint64_t eos = encoder_.eos_added() - eos_before;
    const auto decoded =
        vocabulary_.decode(std::span<const std::int32_t>(run.ids).first(run.ids.size() - eos));
    if (!decoded) return "its ids stand for nothing: " + decoded.error().context;
    if (records::first_invalid_utf8(*decoded)) return "its ids stand for no UTF-8";
    if (*decoded != text && !tokens::may_need_nfc(text)) return "its ids stand for another text";
    return "";
  }

  void accept() {
    if (!out_.different) out_.different = std::move(found_.different);
    out_.compared += found_.runs.size();
    if (manifest_.mode == blocks::PackMode::concat) return;
    for (const auto& [run, where] : found_.runs) pieces_.want(run, where);
  }

  const blocks::PackManifest& manifest_;
  const PackVocabulary& vocabulary_;
  const Reading reading_;
  Files& files_;
  const TokenProgress& progress_;
  PackEncoder encoder_;
  records::JsonlReader jsonl_;
  PackPieces pieces_;
  const std::vector<std::uint64_t> drawn_;
  PackSamples out_;
  Found found_;  // in the input at hand
  std::string path_;
  std::optional<Error> failure_;  // of the pack, not of an input
  std::size_t next_ = 0;          // of drawn_
  std::uint64_t number_ = 0;      // of the next document
  std::uint64_t all_bytes_ = 0, done_bytes_ = 0;
};

}  // namespace

Result<PackSamples> compare_samples(const OpenPack& pack, const PackVocabulary& vocabulary,
                                    Files& files, std::uint64_t seed,
                                    const TokenProgress& progress) {
  auto reading = reading_of(pack.manifest(), vocabulary);
  if (!reading) return reading.error();
  return Comparison(pack, vocabulary, std::move(*reading), files, seed, progress).run();
}

}  // namespace muster
