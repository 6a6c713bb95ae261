#include "app/pack_encode.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "app/input_stream.h"
#include "base/limits.h"
#include "base/memory_bytes.h"
#include "base/text.h"
#include "core/records/jsonl_records.h"
#include "core/tokens/tokenizer.h"
#include "edge/os/huge_pages.h"
#include "edge/os/new_file.h"

namespace muster {
namespace {

constexpr std::size_t kReadBytes = 4 * 1024 * 1024;

// Documents of one file -> ids.
class EncodingSink final : public records::RecordSink {
 public:
  EncodingSink(const Tokenizer& tokenizer, std::string name, const EncodeSinks& sinks)
      : encoder_(tokenizer), name_(std::move(name)), sinks_(sinks) {}

  void document(records::Document&& document, std::uint64_t line) override {
    ids_.clear();
    if (const Status encoded = encoder_.encode(document.text, {}, ids_); !encoded) {
      return lose(line, encoded.error().context);
    }
    hand_out(line);
  }

  void fault(records::Fault fault, std::uint64_t line, const std::string& detail) override {
    if (fault == records::Fault::empty_text) {
      ids_.clear();
      hand_out(line);
    } else if (records::loses_record(fault)) {
      lose(line, detail.empty() ? std::string(records::fault_words(fault))
                                : fmt::format("{}: {}", records::fault_words(fault), detail));
    }
  }

  const EncodeTotal& total() const { return total_; }
  const std::optional<Error>& fault() const { return fault_; }

 private:
  void lose(std::uint64_t line, const std::string& why) {
    ++total_.lost;
    sinks_.complain(fmt::format("{}: line {}: {}", name_, line, why));
  }

  void hand_out(std::uint64_t line) {
    if (fault_) return;
    ++total_.records;
    total_.ids += ids_.size();
    if (const Status taken = sinks_.record(line, ids_); !taken) fault_ = taken.error();
  }

  Encoder encoder_;
  std::string name_;
  const EncodeSinks& sinks_;
  std::vector<std::int32_t> ids_;
  EncodeTotal total_;
  std::optional<Error> fault_;
};

// Whole lines of a stream to the reader, as many at a time as were read.
Status read_lines(ByteStream& stream, records::JsonlReader& reader, EncodingSink& sink) {
  std::string held;
  std::size_t size = 0;  // of `held`; behind it lies room to read and the reader's padding
  std::uint64_t line = 1;
  for (bool more = true; more && !sink.fault();) {
    held.resize(size + kReadBytes + records::kRecordPadding);
    const auto got = stream.read(std::span(held).subspan(size, kReadBytes));
    if (!got) return got.error();
    size += *got;
    more = *got > 0;
    const std::string_view text = std::string_view(held).substr(0, size);
    const std::size_t newline = text.rfind('\n');
    std::size_t whole = newline == std::string_view::npos ? 0 : newline + 1;
    if (!more || size - whole > limits::kRecordBytes) whole = size;
    if (whole == 0) continue;
    reader.read(text.substr(0, whole), line, sink);
    line += static_cast<std::uint64_t>(
        std::count(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(whole), '\n'));
    held.erase(0, whole);
    size -= whole;
  }
  if (sink.fault()) return *sink.fault();
  return {};
}

}  // namespace

Result<EncodeTotal> encode_records(const EncodeRequest& request, const EncodeSinks& sinks,
                                   Files& files) {
  const auto json = read_whole(files, request.tokenizer, limits::kTokenizerBytes);
  if (!json) return json.error();
  const auto tokenizer = Tokenizer::from_json(*json, prefer_huge_pages);
  if (!tokenizer) return within(request.tokenizer, tokenizer.error());
  auto file = files.open(request.input);
  if (!file) return file.error();
  const std::string name = request.input == "-" ? "standard input" : request.input;
  auto stream = text_of(std::move(*file), name, [] { return false; });
  if (!stream) return stream.error();
  EncodingSink sink(**tokenizer, name, sinks);
  records::JsonlReader reader({.field = request.field.empty() ? "text" : request.field});
  if (Status read = read_lines(**stream, reader, sink); !read) return read.error();
  return sink.total();
}

Result<EncodeTotal> encode_into(const EncodeRequest& request, const std::string& out,
                                const std::function<void(const std::string&)>& complain,
                                Files& files) {
  auto ids_file = NewFile::begin(out);
  if (!ids_file) return ids_file.error();
  auto counts_file = NewFile::begin(out + ".len");
  if (!counts_file) return counts_file.error();
  const EncodeSinks sinks{
      [&](std::uint64_t, std::span<const std::int32_t> ids) {
        const auto count = static_cast<std::uint32_t>(ids.size());
        Status done = ids_file->append(memory_bytes(ids));
        return done ? counts_file->append(memory_bytes(std::span<const std::uint32_t>(&count, 1)))
                    : done;
      },
      complain};
  auto total = encode_records(request, sinks, files);
  if (!total) return total.error();
  if (Status done = ids_file->keep(); !done) return done.error();
  if (Status done = counts_file->keep(); !done) return done.error();
  return total;
}

}  // namespace muster
