#include <fmt/core.h>

#include <memory>
#include <string>

#include "app/pack_encode.h"
#include "cmd/verbs.h"
#include "core/model/json_writer.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster pack encode --tokenizer tokenizer.json data.jsonl            ids, a line a record\n"
    "  muster pack encode --tokenizer tokenizer.json data.jsonl --json     "
    "{\"line\":1,\"ids\":[...]}\n"
    "  muster pack encode --tokenizer tokenizer.json data.jsonl.zst --out ids.i32\n"
    "  python3 -c 'import numpy; print(numpy.fromfile(\"ids.i32\", \"<i4\")[:8])'\n"
    "\n"
    "The ids are those of Hugging Face's tokenizers with add_special_tokens=False. Records that "
    "are\n"
    "lost are named on standard error.\n"
    "\n"
    "Exit status: 0 every record was encoded, 1 some were lost, 64 usage, 65 no input or a\n"
    "tokenizer that is not done here, 74 the disk is full.";

class PackEncodeVerb final : public Verb {
 public:
  std::string_view name() const override { return "pack encode"; }
  std::string_view summary() const override {
    return "the token ids of each record, to compare with another tokenizer";
  }

  void declare(VerbOptions& options) override {
    options.positionals("IN", &inputs_, "JSON lines, also .gz and .zst; - is standard input");
    options.text("--tokenizer", &request_.tokenizer, "FILE", "a Hugging Face tokenizer.json");
    options.text("--field", &request_.field, "NAME", "the field that holds the text (text)");
    options.text("--out", &out_, "FILE",
                 "a new file of ids, little-endian int32; FILE.len gets how many of each record");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    if (inputs_.size() != 1 || request_.tokenizer.empty()) {
      console.complain("name one input and a --tokenizer (muster pack encode --help)");
      return ExitStatus::usage;
    }
    request_.input = inputs_.front();
    const auto complain = [&console](const std::string& text) { console.complain(text); };
    const auto total = out_.empty()
                           ? encode_records(request_, {printer(console), complain}, real_files())
                           : encode_into(request_, out_, complain, real_files());
    if (console.reader_left()) return ExitStatus::ok;
    if (!total && out_.empty()) return console.fail(total.error());
    if (!total) return console.fail_to_write(total.error());
    if (!out_.empty() && !console.json()) {
      console.print(fmt::format("{} records, {} ids: {}\n", total->records, total->ids, out_));
    }
    if (total->lost == 0) return ExitStatus::ok;
    console.complain(fmt::format("{} records are lost", total->lost));
    return ExitStatus::warning;
  }

 private:
  static std::function<Status(std::uint64_t, std::span<const std::int32_t>)> printer(
      Console& console) {
    return [&console](std::uint64_t line, std::span<const std::int32_t> ids) -> Status {
      if (console.reader_left()) return make_error(Errc::unavailable, "the reader left");
      std::string text;
      if (console.json()) {
        JsonWriter w;
        w.begin_object().key("line").value(line).key("ids").begin_array();
        for (const std::int32_t id : ids) w.value(static_cast<std::int64_t>(id));
        text = w.end_array().end_object().take();
      } else {
        for (const std::int32_t id : ids) text += fmt::format("{}{}", text.empty() ? "" : " ", id);
      }
      console.print(text + "\n");
      return {};
    };
  }

  EncodeRequest request_;
  std::vector<std::string> inputs_;
  std::string out_;
};

}  // namespace

std::unique_ptr<Verb> make_pack_encode_verb() {
  return std::make_unique<PackEncodeVerb>();
}

}  // namespace muster
