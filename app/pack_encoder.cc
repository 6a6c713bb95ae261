#include "app/pack_encoder.h"

namespace muster {
namespace {

bool covers_all(std::span<const ByteRange> ranges, std::size_t bytes) {
  return ranges.size() == 1 && ranges[0].begin == 0 && ranges[0].end == bytes;
}

// One bit for each start. Both rise.
void append_bits(std::span<const std::uint64_t> starts, std::span<const ByteRange> trained,
                 blocks::LossBits& bits) {
  std::size_t range = 0, done = 0;
  bool value = false;
  const auto give = [&](std::size_t until) {
    bits.append(until - done, value);
    done = until;
  };
  for (std::size_t i = 0; i < starts.size(); ++i) {
    while (range < trained.size() && trained[range].end <= starts[i]) ++range;
    const bool now = range < trained.size() && trained[range].begin <= starts[i];
    if (now != value) give(i);
    value = now;
  }
  give(starts.size());
}

}  // namespace

Status PackEncoder::add(records::Document&& document, blocks::TokenRun& run) {
  const std::size_t bytes = document.text.size();
  const bool is_text = !document.ends_itself;
  if (specials_ == PackSpecials::ids) document.plain.clear();
  if (specials_ == PackSpecials::text && is_text) document.plain = {{0, bytes}};
  const std::size_t before = run.ids.size();
  const bool all = covers_all(document.trained, bytes);
  starts_.clear();
  Status encoded =
      all || document.trained.empty()
          ? encoder_->encode(document.text, document.plain, run.ids)
          : encoder_->encode_with_starts(document.text, document.plain, run.ids, starts_);
  if (!encoded) return encoded;
  if (starts_.empty()) {
    run.trained.append(run.ids.size() - before, all);
  } else {
    append_bits(starts_, document.trained, run.trained);
  }
  const bool has_it = run.ids.size() > before && run.ids.back() == eos_.eos;
  if (eos_.eos && !has_it && !(document.ends_itself && eos_.ends_chats)) {
    run.ids.push_back(*eos_.eos);
    run.trained.append(1, !document.trained.empty() && document.trained.back().end == bytes);
    ++eos_added_;
  }
  run.ends.push_back(run.ids.size());
  return {};
}

}  // namespace muster
