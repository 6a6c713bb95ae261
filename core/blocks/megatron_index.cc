#include "core/blocks/megatron_index.h"

#include <fmt/core.h>

#include <cstring>
#include <optional>
#include <span>

#include "base/check.h"
#include "base/limits.h"
#include "base/memory_bytes.h"

namespace muster::blocks {
namespace {

constexpr std::optional<IdType> kTypes[] = {std::nullopt, IdType::u8,   IdType::i8,
                                            IdType::i16,  IdType::i32,  IdType::i64,
                                            std::nullopt, std::nullopt, IdType::u16};

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

void append(std::string& out, std::uint64_t value) {
  out += memory_bytes(std::span<const std::uint64_t>(&value, 1));
}

Error corrupt(std::string text) {
  return make_error(Errc::corrupt, std::move(text));
}

}  // namespace

Result<MegatronIndex> parse_megatron_index(std::string_view head, std::uint64_t file_bytes) {
  if (head.size() < kMegatronHeaderBytes || !head.starts_with(kMegatronMagic)) {
    return make_error(Errc::invalid_input, "no index of a Megatron data set");
  }
  const std::uint64_t version = number_at(head, 9);
  if (version != 1) {
    return make_error(Errc::unsupported, fmt::format("version {}: this program reads 1", version));
  }
  const auto code = static_cast<unsigned char>(head[17]);
  if (code >= std::size(kTypes) || !kTypes[code]) {
    return make_error(Errc::unsupported, fmt::format("type {} is not one of ids", code));
  }
  MegatronIndex out{*kTypes[code], number_at(head, 18), number_at(head, 26)};
  constexpr std::uint64_t kMost = limits::kPackBlocks;  // so that sizes stay within 64 bits
  if (out.sequences > kMost || out.document_entries > kMost || out.document_entries == 0) {
    return corrupt(fmt::format("{} sequences and {} entries of documents", out.sequences,
                               out.document_entries));
  }
  if (file_bytes == out.end() + out.sequences && out.sequences > 0) {
    return make_error(Errc::unsupported, "a multimodal data set (modes of sequences)");
  }
  if (file_bytes != out.end()) {
    return corrupt(fmt::format("{} bytes; {} sequences and {} entries of documents make {}",
                               file_bytes, out.sequences, out.document_entries, out.end()));
  }
  return out;
}

std::string megatron_header(const MegatronIndex& index) {
  std::string out(kMegatronMagic);
  append(out, 1);
  std::size_t code = 0;
  while (kTypes[code] != index.type) MUSTER_CHECK(++code < std::size(kTypes), "a type it has");
  out += static_cast<char>(code);
  append(out, index.sequences);
  append(out, index.document_entries);
  return out;
}

MegatronSequences::MegatronSequences(const MegatronIndex& index, std::uint64_t bin_bytes)
    : index_(index), bin_bytes_(bin_bytes) {}

Status MegatronSequences::add(std::span<const std::int32_t> sizes,
                              std::span<const std::int64_t> pointers) {
  MUSTER_CHECK(sizes.size() == pointers.size(), "as many of each");
  for (std::size_t i = 0; i < sizes.size(); ++i, ++sequences_) {
    if (sizes[i] < 0) return corrupt(fmt::format("sequence {}: {} tokens", sequences_, sizes[i]));
    if (pointers[i] < 0 || static_cast<std::uint64_t>(pointers[i]) != at_bytes_) {
      return corrupt(fmt::format("sequence {} begins at byte {}, the one before it ended at {}",
                                 sequences_, pointers[i], at_bytes_));
    }
    at_bytes_ += static_cast<std::uint64_t>(sizes[i]) * id_bytes(index_.type);
    if (at_bytes_ > bin_bytes_) {
      return corrupt(
          fmt::format("sequence {} ends at byte {} of {}", sequences_, at_bytes_, bin_bytes_));
    }
  }
  return {};
}

Status MegatronSequences::add_documents(std::span<const std::int64_t> documents) {
  for (const std::int64_t document : documents) {
    const bool first = entries_++ == 0;
    const bool beyond = document > 0 && static_cast<std::uint64_t>(document) > index_.sequences;
    if ((first && document != 0) || document < document_ || beyond) {
      return corrupt(fmt::format("document entry {} is sequence {}", entries_ - 1, document));
    }
    document_ = document;
  }
  return {};
}

Status MegatronSequences::finish() const {
  if (at_bytes_ != bin_bytes_) {
    return corrupt(fmt::format("the sequences end at byte {} of {}", at_bytes_, bin_bytes_));
  }
  if (static_cast<std::uint64_t>(document_) != index_.sequences) {
    return corrupt(
        fmt::format("the documents end at sequence {} of {}", document_, index_.sequences));
  }
  return {};
}

}  // namespace muster::blocks
