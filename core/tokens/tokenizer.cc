#include "core/tokens/tokenizer.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/tokens/encode_state.h"
#include "core/tokens/model.h"
#include "core/tokens/tokenizer_json.h"

namespace muster {

Tokenizer::Tokenizer(std::unique_ptr<const tokens::Model> model) : model_(std::move(model)) {}
Tokenizer::~Tokenizer() = default;

Result<std::unique_ptr<const Tokenizer>> Tokenizer::from_json(std::string_view bytes,
                                                              tokens::MemoryAdvice advice) {
  auto model = tokens::read_tokenizer_json(bytes, advice);
  if (!model) return model.error();
  return std::unique_ptr<const Tokenizer>(new Tokenizer(std::move(*model)));
}

std::uint32_t Tokenizer::vocabulary_count() const {
  return model_->vocabulary.ids();
}

std::optional<std::int32_t> Tokenizer::id_of(std::string_view token) const {
  for (const tokens::AddedToken& added : model_->added) {
    if (added.content == token) return static_cast<std::int32_t>(added.id);
  }
  const std::uint32_t id = model_->vocabulary.find(token);
  if (id == tokens::Vocabulary::kNone) return std::nullopt;
  return static_cast<std::int32_t>(id);
}

bool Tokenizer::is_special(std::int32_t id) const {
  const auto index = static_cast<std::uint32_t>(id);
  return index < model_->special.size() && model_->special[index];
}

Result<std::string> Tokenizer::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    if (!model_->vocabulary.has(static_cast<std::uint32_t>(id))) {
      return make_error(Errc::invalid_input, fmt::format("no token has id {}", id));
    }
    text += model_->vocabulary.bytes(static_cast<std::uint32_t>(id));
  }
  return text;
}

Encoder::Encoder(const Tokenizer& tokenizer)
    : state_(std::make_unique<tokens::EncodeState>(*tokenizer.model_)) {}
Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;

Status Encoder::encode(std::string_view utf8, std::span<const ByteRange> plain,
                       std::vector<std::int32_t>& out) {
  return state_->encode(utf8, plain, out, nullptr);
}

Status Encoder::encode_with_starts(std::string_view utf8, std::span<const ByteRange> plain,
                                   std::vector<std::int32_t>& out,
                                   std::vector<std::uint64_t>& starts) {
  return state_->encode(utf8, plain, out, &starts);
}

}  // namespace muster
