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

// All words of an entry of the cache, of which its count are kept.
template <std::size_t kWords>
std::uint32_t* put_few(const std::uint32_t* ids, std::uint32_t* to) {
  std::memcpy(to, ids, kWords * sizeof *ids);
  *to = *ids & PieceCache::kIdMask;
  return to + PieceCache::count_of(*ids);
}

}  // namespace

EncodeState::EncodeState(const Model& model)
    : model_(model),
      merger_(model.merges, model.byte_ids),
      cache_(model.advice),
      splitter_(model.family) {
  if (model.cuts) cutter_.emplace(*model.cuts, model.merges);
}

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
    put_one(match.id);
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
    put_one(match.id);
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

// In batches. What is in the cache is written down at once; what is not leaves a gap, and all gaps
// are filled together.
void EncodeState::chunk(std::string_view text, std::size_t at, std::size_t count) {
  for (std::size_t from = 0; from < count;) {
    flush();
    missing_ = 0;
    for (const std::size_t end = std::min(from + kBatch, count); from < end;) {
      const std::size_t some = std::min(kRow, end - from);
      row(text, at, ends_.data() + from, some);
      from += some;
      at = ends_[from - 1];
    }
    if (missing_ > 0) fill_gaps();
  }
}

// Of a row of pieces the keys are made first, so that the lines of the cache are on their way.
void EncodeState::row(std::string_view text, std::size_t at, const std::uint32_t* ends,
                      std::size_t count) {
  std::array<PieceCache::ShortKey, kRow> keys;
  std::array<std::uint32_t, kRow> places;
  std::size_t begin = at;
  for (std::size_t i = 0; i < count; ++i) {
    const char* const piece = text.data() + begin;
    const std::size_t size = ends[i] - begin;
    if (size <= PieceCache::kShortBytes) {
      keys[i] = PieceCache::short_key(piece, size, text.size() - begin);
      places[i] = PieceCache::place_of(keys[i]);
      cache_.prefetch(places[i]);
    } else if (size <= PieceCache::kLongBytes) {
      cache_.prefetch_long(PieceCache::place_of(PieceCache::long_key({piece, size})));
    }
    begin = ends[i];
  }
  std::uint32_t* to = ids_.data() + held_;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = ends[i] - at;
    if (size > PieceCache::kShortBytes) {
      to = put_long(text.substr(at, size), to);
    } else if (const std::uint32_t* const ids = cache_.find(keys[i], places[i]); ids == nullptr) {
      to = put_gap(text.substr(at, size), to);
    } else if (PieceCache::count_of(*ids) <= PieceCache::kShortIds) {
      to = put_few<PieceCache::kShortIds>(ids, to);
    } else {
      to = put_long(text.substr(at, size), to);
    }
    at = ends[i];
  }
  held_ = static_cast<std::size_t>(to - ids_.data());
}

// A piece that is long, or of many ids.
std::uint32_t* EncodeState::put_long(std::string_view piece, std::uint32_t* to) {
  if (piece.size() <= PieceCache::kLongBytes) {
    const auto key = PieceCache::long_key(piece);
    const std::uint32_t* const ids = cache_.find(key, PieceCache::place_of(key));
    if (ids != nullptr) return put_few<PieceCache::kLongIds>(ids, to);
  }
  return put_gap(piece, to);
}

std::uint32_t* EncodeState::put_gap(std::string_view piece, std::uint32_t* to) {
  gaps_[missing_].piece = piece;
  gaps_[missing_++].place = static_cast<std::size_t>(to - ids_.data());
  return to;
}

void EncodeState::fill_gaps() {
  const std::span<Gap> gaps(gaps_.data(), missing_);
  merge_gaps(gaps);
  std::size_t total = held_;
  for (const Gap& gap : gaps) total += ids_of(gap).size();
  const std::size_t before = out_->size();
  out_->resize(before + total);
  std::int32_t* to = out_->data() + before;
  std::size_t at = 0;
  for (const Gap& gap : gaps) {
    to = std::copy(ids_.data() + at, ids_.data() + gap.place, to);
    const auto ids = ids_of(gap);
    to = std::copy(ids.begin(), ids.end(), to);
    at = gap.place;
    remember(gap.piece, ids);
  }
  std::copy(ids_.data() + at, ids_.data() + held_, to);
  held_ = 0;
}

void EncodeState::merge_gaps(std::span<Gap> gaps) {
  merged_.clear();
  if (cutter_) cutter_->clear();
  for (Gap& gap : gaps) {
    const std::string_view piece = gap.piece;
    std::uint32_t whole = Vocabulary::kNone;
    if (model_.look_up_pieces && piece.size() <= limits::kTokenBytes) {
      whole = model_.vocabulary.find(piece);
    }
    gap.cut = cutter_ && whole == Vocabulary::kNone;
    if (gap.cut) {
      gap.number = cutter_->add(piece);
      continue;
    }
    gap.number = merged_.size();
    if (whole != Vocabulary::kNone) {
      merged_.push_back(whole);
    } else {
      merger_.merge(piece, merged_);
    }
    gap.count = merged_.size() - gap.number;
  }
  if (cutter_) cutter_->run();
}

std::span<const std::uint32_t> EncodeState::ids_of(const Gap& gap) const {
  if (gap.cut) return cutter_->ids(gap.number);
  return std::span(merged_).subspan(gap.number, gap.count);
}

// A short piece of many ids is in both tables: in that of the short ones only that it is.
void EncodeState::remember(std::string_view piece, std::span<const std::uint32_t> ids) {
  if (piece.size() > PieceCache::kLongBytes || ids.size() > PieceCache::kLongIds) return;
  if (piece.size() <= PieceCache::kShortBytes) {
    const auto key = PieceCache::short_key(piece.data(), piece.size(), piece.size());
    cache_.insert(key, PieceCache::place_of(key), ids);
    if (ids.size() <= PieceCache::kShortIds) return;
  }
  const auto key = PieceCache::long_key(piece);
  cache_.insert(key, PieceCache::place_of(key), ids);
}

void EncodeState::put_one(std::uint32_t id) {
  if (held_ == ids_.size()) flush();
  ids_[held_++] = id;
}

void EncodeState::flush() {
  out_->insert(out_->end(), ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(held_));
  held_ = 0;
}

}  // namespace muster::tokens
