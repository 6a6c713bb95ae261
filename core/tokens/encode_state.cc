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
    : model_(model),
      merger_(model.merges, model.byte_ids, &model.chars),
      cache_(model.advice),
      splitter_(model.family) {}

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

// In batches: the keys of all pieces, so that the lines of the cache are on their way; then what is
// in the cache; then what is not, side by side; then all ids in order.
void EncodeState::chunk(std::string_view text, std::size_t at, std::size_t count) {
  for (std::size_t from = 0; from < count;) {
    const std::size_t some = std::min(kBatch, count - from);
    const std::span<Probe> probes(probes_.data(), some);
    for (Probe& probe : probes) {
      const std::size_t end = ends_[from++];
      probe.piece = text.substr(at, end - at);
      aim(probe, text.size() - at);
      at = end;
    }
    missing_.clear();
    fresh_.clear();
    for (Probe& probe : probes) {
      if (cached(probe)) continue;
      missing_.push_back(&probe);
      if (probe.piece.size() <= PieceCache::kShortBytes) model_.whole_pieces.prefetch(probe.key);
    }
    if (!missing_.empty()) find_missing();
    for (const Probe& probe : probes) put_found(probe);
    // Not before, because ids of others may lie where it is put.
    for (const Probe* probe : fresh_) remember(*probe);
  }
}

void EncodeState::put_found(const Probe& probe) {
  constexpr std::size_t kFew = PieceCache::kShortIds;
  if (probe.count > kFew) return put(probe.ids, probe.count);
  if (held_ + kFew > ids_.size()) flush();
  std::array<std::uint64_t, kFew / 2> words;
  std::memcpy(words.data(), probe.ids, sizeof words);
  constexpr std::uint64_t kTwoMasks = PieceCache::kIdMask * ((std::uint64_t{1} << 32) + 1);
  for (std::uint64_t& two : words) two &= kTwoMasks;
  std::memcpy(ids_.data() + held_, words.data(), sizeof words);
  held_ += probe.count;
}

void EncodeState::aim(Probe& probe, std::size_t readable) const {
  const std::size_t size = probe.piece.size();
  if (size <= PieceCache::kShortBytes) {
    probe.key = PieceCache::short_key(probe.piece.data(), size, readable);
    probe.place = PieceCache::place_of(probe.key);
    cache_.prefetch(probe.place);
  } else if (size <= PieceCache::kLongBytes) {
    probe.long_key = PieceCache::long_key(probe.piece);
    probe.place = PieceCache::place_of(probe.long_key);
    cache_.prefetch_long(probe.place);
  }
}

bool EncodeState::cached(Probe& probe) const {
  const std::size_t size = probe.piece.size();
  const std::uint32_t* ids = nullptr;
  if (size <= PieceCache::kShortBytes) {
    ids = cache_.find(probe.key, probe.place);
  } else if (size <= PieceCache::kLongBytes) {
    ids = cache_.find(probe.long_key, probe.place);
  }
  if (ids == nullptr) return false;
  probe.ids = ids;
  probe.count = PieceCache::count_of(*ids);
  return true;
}

// The id of a piece that is one, as far as that can be told without merging.
std::uint32_t EncodeState::whole_id(const Probe& probe) const {
  if (probe.piece.size() <= PieceCache::kShortBytes) return model_.whole_pieces.find(probe.key);
  if (!model_.ignore_merges || probe.piece.size() > limits::kTokenBytes) return Vocabulary::kNone;
  return model_.vocabulary.find(probe.piece);
}

// Whether a short piece of many ids is in the table of the long ones.
bool EncodeState::cached_as_long(Probe& probe) const {
  if (probe.piece.size() > PieceCache::kShortBytes) return false;
  const auto key = PieceCache::long_key(probe.piece);
  probe.ids = cache_.find(key, PieceCache::place_of(key));
  if (probe.ids == nullptr) return false;
  probe.count = PieceCache::count_of(*probe.ids);
  return true;
}

void EncodeState::find_missing() {
  merger_.clear();
  merging_.clear();
  for (std::size_t i = 0; i < missing_.size(); ++i) {
    Probe& probe = *missing_[i];
    const std::uint32_t id = whole_id(probe);
    if (id != Vocabulary::kNone) {
      whole_[i] = {id};
      probe.ids = whole_[i].data();
      probe.count = 1;
      fresh_.push_back(&probe);
    } else if (!cached_as_long(probe)) {
      merger_.add(probe.piece);
      merging_.push_back(&probe);
      fresh_.push_back(&probe);
    }
  }
  merger_.run();
  for (std::size_t i = 0; i < merging_.size(); ++i) {
    const Merger::Ids ids = merger_.ids(i);
    merging_[i]->ids = ids.data;
    merging_[i]->count = static_cast<std::uint32_t>(ids.count);
  }
}

void EncodeState::remember(const Probe& probe) {
  const std::size_t size = probe.piece.size();
  if (size <= PieceCache::kShortBytes && probe.count <= PieceCache::kShortIds) {
    cache_.insert(probe.key, probe.place, probe.ids, probe.count);
  } else if (size <= PieceCache::kLongBytes && probe.count <= PieceCache::kLongIds) {
    const auto key =
        size > PieceCache::kShortBytes ? probe.long_key : PieceCache::long_key(probe.piece);
    cache_.insert(key, PieceCache::place_of(key), probe.ids, probe.count);
  }
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
