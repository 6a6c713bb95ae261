#include "train/run/vote.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>

#include "base/check.h"
#include "base/number_runs.h"
#include "base/text.h"
#include "core/blocks/block_hash.h"
#include "core/model/json_reader.h"
#include "core/model/json_writer.h"

namespace muster::train {
namespace {

using Ranks = std::vector<std::size_t>;

std::string shown(std::string_view value) {
  return value.empty() ? "none" : escape_controls(value, 80);
}

std::string ranks_text(const Ranks& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", rank_ranges(ranks));
}

// Empty where all say the same.
std::string difference(std::string_view name, const std::map<std::string, Ranks>& sides,
                       std::size_t world) {
  if (sides.size() < 2) return {};
  const auto most = std::max_element(sides.begin(), sides.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  std::string text;
  if (most->second.size() * 2 > world) {
    for (const auto& [value, ranks] : sides) {
      if (value == most->first) continue;
      text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", ranks_text(ranks),
                          ranks.size() == 1 ? "has" : "have", shown(value));
    }
    return fmt::format("{}: {} where {} {} {}", name, text, ranks_text(most->second),
                       most->second.size() == 1 ? "has" : "have", shown(most->first));
  }
  for (const auto& [value, ranks] : sides) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", ranks_text(ranks),
                        ranks.size() == 1 ? "has" : "have", shown(value));
  }
  return fmt::format("{}: {}; there is no majority", name, text);
}

std::optional<std::string> refusal_of(std::span<const VoteRecord> records) {
  std::map<std::string, Ranks> words;
  for (std::size_t r = 0; r < records.size(); ++r) {
    std::string names;
    for (const auto& entry : records[r].same) names += entry.first + " ";
    words[names].push_back(r);
  }
  // Another build, which compares other things.
  if (std::string text = difference("vote", words, records.size()); !text.empty()) return text;
  std::string all;
  for (std::size_t i = 0; i < records[0].same.size(); ++i) {
    std::map<std::string, Ranks> sides;
    for (std::size_t r = 0; r < records.size(); ++r) {
      sides[records[r].same[i].second].push_back(r);
    }
    const std::string text = difference(records[0].same[i].first, sides, records.size());
    if (!text.empty()) all += (all.empty() ? "" : "; ") + text;
  }
  return all.empty() ? std::nullopt : std::optional(all);
}

}  // namespace

std::string encode_vote(const VoteRecord& record) {
  JsonWriter w;
  w.begin_object().key("blocks").value(record.blocks).key("steps").value(record.steps);
  // Text: a number of JSON holds 53 bits everywhere, and no more.
  w.key("data").value(fmt::format("{:016x}", record.data));
  w.key("same").begin_array();
  for (const auto& [name, value] : record.same) {
    w.begin_object().key("name").value(name).key("value").value(value).end_object();
  }
  w.end_array().end_object();
  return w.take();
}

Result<VoteRecord> decode_vote(std::string_view text) {
  const auto document = parse_json(text);
  if (!document) return document.error();
  JsonFields fields(*document);
  VoteRecord record;
  record.blocks = static_cast<std::uint64_t>(fields.require_integer("blocks"));
  record.steps = static_cast<std::uint64_t>(fields.require_integer("steps"));
  const std::string data = fields.require_text("data");
  const auto end = std::from_chars(data.data(), data.data() + data.size(), record.data, 16);
  if (!fields.fault() && (end.ec != std::errc() || end.ptr != data.data() + data.size())) {
    return make_error(Errc::invalid_input, "data: no number");
  }
  for (const JsonNode& entry : fields.array("same")) {
    JsonFields one(entry, "same[].");
    std::string name = one.require_text("name");
    record.same.emplace_back(std::move(name), one.require_text("value"));
    fields.adopt(one.fault());
  }
  if (fields.fault()) return *fields.fault();
  return record;
}

Vote judge_vote(std::span<const VoteRecord> records) {
  MUSTER_CHECK(!records.empty(), "somebody votes");
  Vote vote;
  vote.refusal = refusal_of(records);
  const auto least_steps =
      std::min_element(records.begin(), records.end(),
                       [](const VoteRecord& a, const VoteRecord& b) { return a.steps < b.steps; });
  vote.steps = least_steps->steps;
  const auto [least, most] =
      std::minmax_element(records.begin(), records.end(),
                          [](const auto& a, const auto& b) { return a.blocks < b.blocks; });
  if (least->blocks != most->blocks) {
    Ranks fewest;
    for (std::size_t r = 0; r < records.size(); ++r) {
      if (records[r].blocks == least->blocks) fewest.push_back(r);
    }
    vote.warning = fmt::format(
        "ranks have different numbers of blocks, {} to {} ({} the fewest); every rank makes {} "
        "steps an epoch, what lies beyond is not used",
        least->blocks, most->blocks,
        fewest.size() == 1 ? ranks_text(fewest) + " has" : ranks_text(fewest) + " have",
        vote.steps);
  }
  if (vote.steps == 0 && !vote.refusal) {
    vote.refusal = fmt::format("rank {} has no whole step of data",
                               std::distance(records.begin(), least_steps));
  }
  return vote;
}

std::uint64_t data_of_ranks(std::span<const VoteRecord> records) {
  std::string all;
  for (const VoteRecord& record : records) {
    all += fmt::format("{} {:016x}\n", record.blocks, record.data);
  }
  return blocks::hash_bytes(all).low;
}

std::string rank_ranges(std::span<const std::size_t> ranks) {
  std::string text;
  for (const auto& run : runs_of(ranks)) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", run.first);
    if (run.last > run.first) text += fmt::format("-{}", run.last);
  }
  return text;
}

}  // namespace muster::train
