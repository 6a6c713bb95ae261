#include "core/tokens/encode_state.h"

#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"

namespace muster::tokens {
namespace {

// Where byte `at` of a stretch went to when it was normalised: into a changed run as to its start.
std::uint64_t forward(std::span<const ChangedRun> changed, std::uint64_t at) {
  const auto behind = std::upper_bound(
      changed.begin(), changed.end(), at,
      [](std::uint64_t place, const ChangedRun& run) { return place < run.from.begin; });
  if (behind == changed.begin()) return at;
  const ChangedRun& run = *(behind - 1);
  return at < run.from.end ? run.to.begin : run.to.end + (at - run.from.end);
}

std::uint64_t back(std::span<const ChangedRun> changed, std::uint64_t at) {
  const auto behind = std::upper_bound(
      changed.begin(), changed.end(), at,
      [](std::uint64_t place, const ChangedRun& run) { return place < run.to.begin; });
  if (behind == changed.begin()) return at;
  const ChangedRun& run = *(behind - 1);
  return at < run.to.end ? run.from.begin : run.from.end + (at - run.to.end);
}

Status check_text(std::string_view utf8) {
  if (utf8.size() > limits::kEncodedBytes) {
    return make_error(Errc::exhausted, fmt::format("a text of {} bytes; at most {} are encoded",
                                                   utf8.size(), limits::kEncodedBytes));
  }
  if (simdjson::validate_utf8(utf8.data(), utf8.size())) return {};
  std::size_t at = 0;
  while (at < utf8.size()) {
    std::uint32_t point = 0;
    const std::size_t bytes = take_character(utf8.substr(at), point);
    if (bytes == 0) break;
    at += bytes;
  }
  return make_error(Errc::invalid_input, fmt::format("no UTF-8 at byte {}", at));
}

void check_plain(std::string_view utf8, std::span<const ByteRange> plain) {
  std::uint64_t at = 0;
  for (const ByteRange& range : plain) {
    MUSTER_CHECK(at <= range.begin && range.begin <= range.end, "plain ranges in order");
    at = range.end;
  }
  MUSTER_CHECK(at <= utf8.size(), "plain ranges within the text");
}

}  // namespace

EncodeState::EncodeState(const Model& model)
    : model_(model), merger_(model.merges, model.byte_ids, &model.chars), splitter_(model.family) {}

Status EncodeState::encode(std::string_view utf8, std::span<const ByteRange> plain,
                           std::vector<std::int32_t>& out, std::vector<std::uint64_t>* starts) {
  if (Status fine = check_text(utf8); !fine) return fine;
  check_plain(utf8, plain);
  out_ = &out;
  starts_ = starts;
  std::vector<AddedTokenFinder::Match> matches;
  model_.raw.find(utf8, plain, matches);
  std::size_t at = 0;
  for (const auto& match : matches) {
    raw_stretch(utf8, {at, match.begin}, plain);
    put(&match.id, 1);
    if (starts != nullptr) starts->push_back(match.begin);
    at = match.end;
  }
  raw_stretch(utf8, {at, utf8.size()}, plain);
  flush();
  return {};
}

void EncodeState::raw_stretch(std::string_view utf8, ByteRange range,
                              std::span<const ByteRange> plain) {
  if (range.begin == range.end) return;
  const std::string_view text = utf8.substr(range.begin, range.end - range.begin);
  std::vector<ChangedRun> changed;
  std::string normalized;
  const bool change = model_.nfc && may_need_nfc(text);
  if (change) normalized = to_nfc(text, changed);
  const Origin origin{range.begin, changed};
  normalized_stretch(change ? normalized : text, origin, plain);
}

void EncodeState::normalized_stretch(std::string_view text, const Origin& origin,
                                     std::span<const ByteRange> plain) {
  std::vector<AddedTokenFinder::Match> matches;
  if (!model_.normalized.empty()) {
    std::vector<ByteRange> here;
    for (const ByteRange& range : plain) {
      if (range.end <= origin.begin) continue;
      const std::uint64_t begin = std::max(range.begin, origin.begin) - origin.begin;
      const std::uint64_t end = range.end - origin.begin;
      const std::uint64_t size = text.size();
      here.push_back({std::min(forward(origin.changed, begin), size),
                      std::min(forward(origin.changed, end), size)});
    }
    model_.normalized.find(text, here, matches);
  }
  std::size_t at = 0;
  const auto ordinary = [&](std::size_t end) {
    if (at == end) return;
    flush();
    const std::size_t from = out_->size();
    pieces(text.substr(at, end - at));
    if (starts_ != nullptr) tell_starts(from, at, origin);
  };
  for (const auto& match : matches) {
    ordinary(match.begin);
    put(&match.id, 1);
    if (starts_ != nullptr) starts_->push_back(origin.begin + back(origin.changed, match.begin));
    at = match.end;
  }
  ordinary(text.size());
}

// Merging loses no byte: the tokens since `from` lie back to back from byte `at` of the stretch on.
void EncodeState::tell_starts(std::size_t from, std::size_t at, const Origin& origin) {
  flush();
  for (std::size_t i = from; i < out_->size(); ++i) {
    starts_->push_back(origin.begin + back(origin.changed, at));
    at += model_.vocabulary.bytes(static_cast<std::uint32_t>((*out_)[i])).size();
  }
}

void EncodeState::pieces(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t count = splitter_.split(text, at, ends_.data());
    chunk(text, at, count);
    at = ends_[count - 1];
  }
}

// In batches: first all keys, so that the lines of the cache are on their way, then all answers.
void EncodeState::chunk(std::string_view text, std::size_t at, std::size_t count) {
  for (std::size_t from = 0; from < count; from += kBatch) {
    const std::size_t some = std::min(kBatch, count - from);
    std::size_t place = at;
    for (std::size_t i = 0; i < some; ++i) {
      Probe& probe = probes_[i];
      probe.size = ends_[from + i] - place;
      if (probe.size <= PieceCache::kShortBytes) {
        probe.key = PieceCache::short_key(text.data() + place, probe.size, text.size() - place);
        probe.place = PieceCache::place_of(probe.key);
        cache_.prefetch(probe.place);
      }
      place += probe.size;
    }
    for (std::size_t i = 0; i < some; ++i) {
      if (held_ + PieceCache::kShortIds > ids_.size()) flush();
      const Probe& probe = probes_[i];
      const std::string_view piece = text.substr(at, probe.size);
      at += probe.size;
      if (probe.size > PieceCache::kShortBytes) {
        long_piece(piece);
        continue;
      }
      const auto* entry = cache_.find(probe.key, probe.place);
      if (entry == nullptr) {
        new_piece(piece, probe);
        continue;
      }
      for (std::size_t k = 0; k < PieceCache::kShortIds; ++k) {
        ids_[held_ + k] = entry->ids[k] & PieceCache::kIdMask;
      }
      held_ += PieceCache::count_of(entry->ids[0]);
    }
  }
}

// A short piece that is not in its table.
void EncodeState::new_piece(std::string_view piece, const Probe& probe) {
  const std::uint32_t id = model_.whole_pieces.find(probe.key);
  if (id != WholePieces::kNone) {
    cache_.insert(probe.key, probe.place, &id, 1);
    put(&id, 1);
    return;
  }
  const auto key = PieceCache::long_key(piece);
  if (const auto* entry = cache_.find(key)) {
    return put(entry->ids, PieceCache::count_of(entry->ids[0]));
  }
  const Merger::Ids ids = merger_.merge(piece);
  if (ids.count <= PieceCache::kShortIds) {
    cache_.insert(probe.key, probe.place, ids.data, ids.count);
  } else if (ids.count <= PieceCache::kLongIds) {
    cache_.insert(key, ids.data, ids.count);
  }
  put(ids.data, ids.count);
}

void EncodeState::long_piece(std::string_view piece) {
  const bool cached = piece.size() <= PieceCache::kLongBytes;
  PieceCache::LongKey key;
  if (cached) {
    key = PieceCache::long_key(piece);
    if (const auto* entry = cache_.find(key)) {
      return put(entry->ids, PieceCache::count_of(entry->ids[0]));
    }
  }
  if (model_.ignore_merges && piece.size() <= limits::kTokenBytes) {
    const std::uint32_t id = model_.vocabulary.find(piece);
    if (id != Vocabulary::kNone) {
      if (cached) cache_.insert(key, &id, 1);
      return put(&id, 1);
    }
  }
  const Merger::Ids ids = merger_.merge(piece);
  if (cached && ids.count <= PieceCache::kLongIds) cache_.insert(key, ids.data, ids.count);
  put(ids.data, ids.count);
}

void EncodeState::put(const std::uint32_t* ids, std::size_t count) {
  while (count > 0) {
    if (held_ == ids_.size()) flush();
    const std::size_t some = std::min(count, ids_.size() - held_);
    for (std::size_t i = 0; i < some; ++i) ids_[held_ + i] = ids[i] & PieceCache::kIdMask;
    held_ += some;
    ids += some;
    count -= some;
  }
}

void EncodeState::flush() {
  out_->insert(out_->end(), ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(held_));
  held_ = 0;
}

}  // namespace muster::tokens
