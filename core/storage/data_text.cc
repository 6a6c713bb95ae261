#include <fmt/core.h>

#include "base/text.h"
#include "core/storage/data_path.h"
#include "core/storage/wrapped_line.h"

namespace muster::storage {
namespace {

std::string tokens_text(double tokens) {
  if (tokens >= 1e9) return fmt::format("{:.2f} G", tokens / 1e9);
  if (tokens >= 1e6) return fmt::format("{:.2f} M", tokens / 1e6);
  return tokens >= 1e4 ? fmt::format("{:.1f} k", tokens / 1e3) : fmt::format("{:.0f}", tokens);
}

std::string_view words_of(DataPath path) {
  return path == DataPath::text ? "reading and tokenizing text" : "reading packed blocks";
}

std::string arm_text(const DataArm& arm) {
  const std::string title =
      fmt::format("{}, {}", arm.path == DataPath::text ? "text, tokenized" : "packed blocks",
                  arm.cold ? "cold" : "warm");
  if (arm.state != RowState::measured) {
    return fmt::format("  {:<24}not measured: {}\n", title, escape_controls(arm.reason));
  }
  return fmt::format("  {:<24}{:>10}  {:>10}  {:>10.4g}  {:>10.4g}  {:>6}\n", title,
                     tokens_text(arm.tokens_per_second), size_text(arm.bytes_per_second),
                     arm.first_step_s, arm.median_step_s, arm.steps);
}

std::string headroom_text(std::optional<double> headroom) {
  return headroom ? times_text(*headroom) : std::string("an unknown multiple");
}

std::string limit_text(DataPath path, const PathVerdict& verdict) {
  const std::string figures =
      fmt::format("cold it gives {}, warm {} what is needed", headroom_text(verdict.cold_headroom),
                  headroom_text(verdict.warm_headroom));
  switch (verdict.limit) {
    case Limit::none:
      return fmt::format("{} feeds the steps: {}", words_of(path), figures);
    case Limit::storage:
      return fmt::format("{} lets the steps wait for storage until the data are in memory: {}",
                         words_of(path), figures);
    case Limit::tokenizing:
      return fmt::format("{} lets the steps wait for the tokenizer, not for storage: {}",
                         words_of(path), figures);
    case Limit::reading:
      return fmt::format("{} lets the steps wait even from memory: {}", words_of(path), figures);
    case Limit::unknown:
      break;
  }
  return fmt::format("cannot tell whether {} feeds the steps: {}", words_of(path), figures);
}

// At which size of the files the answer of a path turns; empty where it does not.
std::string turn_text(DataPath path, const PathVerdict& verdict) {
  if (verdict.inversion.kind != Inversion::Kind::beyond) return "";
  return fmt::format(
      "{}: files beyond {} (read in order) or {} (shuffled) are waited for in every "
      "epoch",
      words_of(path), size_text(verdict.inversion.in_order_bytes),
      size_text(verdict.inversion.shuffled_bytes));
}

std::string conclusion_text(const PathVerdict& text, const PathVerdict& packed) {
  if (text.limit == Limit::none && packed.limit == Limit::none) {
    return "the pack buys no speed here: both paths feed the steps, whatever the size of the data";
  }
  if (packed.limit == Limit::none && text.limit != Limit::unknown) {
    return "the pack is what feeds these steps";
  }
  return "";
}

}  // namespace

std::string data_text(const DataAnswer& answer) {
  std::string out =
      fmt::format("a step of {} tokens; {} of text, {} packed; {} thread{}\n", answer.step_tokens,
                  size_text(answer.text_bytes), size_text(answer.packed_bytes), answer.threads,
                  answer.threads == 1 ? "" : "s");
  out += fmt::format("  {:<24}{:>10}  {:>10}  {:>10}  {:>10}  {:>6}\n", "path", "tokens/s",
                     "bytes/s", "first s", "median s", "steps");
  for (const DataArm& arm : answer.arms) out += arm_text(arm);
  if (answer.step_seconds) {
    const PathVerdict text = verdict_of(DataPath::text, answer);
    const PathVerdict packed = verdict_of(DataPath::packed, answer);
    out += wrapped_line("verdict", limit_text(DataPath::text, text));
    out += wrapped_line("", limit_text(DataPath::packed, packed));
    for (const std::string& line :
         {turn_text(DataPath::text, text), turn_text(DataPath::packed, packed),
          conclusion_text(text, packed)}) {
      if (!line.empty()) out += wrapped_line("", line);
    }
  }
  for (const std::string& note : answer.notes) {
    out += wrapped_line("  note", escape_controls(note));
  }
  return out;
}

}  // namespace muster::storage
