#include "app/pack_vocabulary.h"

#include <fmt/core.h>

#include <memory>
#include <optional>

#include "base/limits.h"
#include "base/text.h"
#include "core/blocks/block_hash.h"
#include "core/tokens/tokenizer.h"

namespace muster {
namespace {

constexpr std::string_view kUsualEos = "<|endoftext|>";

class RealEncoder final : public TextEncoder {
 public:
  explicit RealEncoder(std::shared_ptr<const Tokenizer> tokenizer)
      : tokenizer_(std::move(tokenizer)), encoder_(*tokenizer_) {}
  Status encode(std::string_view utf8, std::span<const ByteRange> plain,
                std::vector<std::int32_t>& out) override {
    return encoder_.encode(utf8, plain, out);
  }
  Status encode_with_starts(std::string_view utf8, std::span<const ByteRange> plain,
                            std::vector<std::int32_t>& out,
                            std::vector<std::uint64_t>& starts) override {
    return encoder_.encode_with_starts(utf8, plain, out, starts);
  }

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  Encoder encoder_;
};

// The file, where it is there; a file that is there and cannot be read is an Error.
Result<std::optional<std::string>> read_beside(Files& files, const std::string& path) {
  if (!files.stat(path)) return std::optional<std::string>();
  auto bytes = read_whole(files, path, limits::kContractBytes);
  if (!bytes) return bytes.error();
  return std::optional(std::move(*bytes));
}

// The id of the token that a configuration names; nothing where it names none that is known.
std::optional<std::int32_t> id_in(const std::optional<std::string>& config, std::string_view key,
                                  const Tokenizer& tokenizer) {
  if (!config) return std::nullopt;
  const auto text = records::token_of_config(*config, key);
  return text && *text ? tokenizer.id_of(**text) : std::nullopt;
}

Result<std::optional<std::int32_t>> choose_eos(const std::string& wanted,
                                               const std::optional<std::string>& config,
                                               const Tokenizer& tokenizer) {
  if (wanted == "none") return std::optional<std::int32_t>();
  if (!wanted.empty()) {
    const auto number = parse_int(wanted);
    auto id = number ? std::optional(static_cast<std::int32_t>(*number)) : tokenizer.id_of(wanted);
    if (number && (*number < 0 || *number >= tokenizer.vocabulary_count())) id.reset();
    if (id) return id;
    return make_error(Errc::invalid_input,
                      fmt::format("--eos {}: the tokenizer has no such token", wanted));
  }
  const auto usual = tokenizer.id_of(kUsualEos);
  if (usual && tokenizer.is_special(*usual)) return usual;
  if (const auto id = id_in(config, "eos_token", tokenizer)) return std::optional(*id);
  return make_error(Errc::invalid_input,
                    "which token ends a document? --eos takes its id or text, or none");
}

Status find_template(const std::string& folder, const std::optional<std::string>& config,
                     Files& files, PackVocabulary& out) {
  auto jinja = read_beside(files, folder + "chat_template.jinja");
  if (!jinja) return jinja.error();
  if (!*jinja && config) jinja = records::template_of_config(*config);
  if (!jinja) return within("tokenizer_config.json", jinja.error());
  if (!*jinja) {
    out.why_no_chat =
        "beside the tokenizer lies no chat template (chat_template.jinja or tokenizer_config.json)";
    return {};
  }
  const auto known = records::ChatTemplate::from_jinja(**jinja);
  if (known) {
    out.chat = *known;
  } else {
    out.why_no_chat = known.error().context;
  }
  return {};
}

}  // namespace

Result<LoadedVocabulary> load_pack_vocabulary(const VocabularyChoice& choice, Files& files) {
  std::string path = choice.tokenizer;
  const auto info = files.stat(path);
  if (!info) return within("--tokenizer", info.error());
  if (info->type == FileInfo::Type::folder) path += "/tokenizer.json";
  // A pipe might never say anything, and a signal that stops a build does not stop this.
  if (const auto file = files.stat(path); file && file->type != FileInfo::Type::file) {
    return make_error(Errc::invalid_input, "--tokenizer " + path + ": not a regular file");
  }
  const auto bytes = read_whole(files, path, limits::kTokenizerBytes);
  if (!bytes) return within("--tokenizer", bytes.error());
  auto read = Tokenizer::from_json(*bytes);
  if (!read) return within(path, read.error());
  const std::shared_ptr<const Tokenizer> tokenizer = std::move(*read);

  LoadedVocabulary out;
  PackVocabulary& made = out.vocabulary;
  made.make_encoder = [tokenizer] { return std::make_unique<RealEncoder>(tokenizer); };
  made.decode = [tokenizer](std::span<const std::int32_t> ids) { return tokenizer->decode(ids); };
  made.hash = blocks::hash_text(blocks::hash_bytes(*bytes));
  made.count = tokenizer->vocabulary_count();
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const auto config = read_beside(files, folder + "tokenizer_config.json");
  if (!config) return config.error();
  if (Status found = find_template(folder, *config, files, made); !found) return found.error();
  const auto eos = choose_eos(choice.eos, *config, *tokenizer);
  if (!eos) return eos.error();
  made.eos.eos = *eos;
  made.eos.ends_chats = *eos && made.chat && tokenizer->id_of(made.chat->end_token()) == *eos;
  made.pad = id_in(*config, "pad_token", *tokenizer).value_or(eos->value_or(0));
  if (*eos) {
    const auto text = tokenizer->decode(std::span(&**eos, 1));
    if (!text) return text.error();
    out.eos_text = *text;
  }
  return out;
}

}  // namespace muster
