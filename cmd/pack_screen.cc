#include "cmd/pack_screen.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "base/text.h"
#include "core/blocks/step_plan.h"
#include "edge/os/clock.h"

namespace muster {
namespace {

constexpr Duration kFirst = std::chrono::milliseconds(500), kStep = std::chrono::milliseconds(250);
// Global batches of the screen where nobody names one: 32 GPUs of one block each, the 128 blocks of
// two nodes with gradient accumulation, and a large job.
constexpr std::uint64_t kUsualBatches[] = {32, 128, 512};

std::string duration_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", seconds);
  if (seconds < 3600) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string bytes_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value < 1e6) return fmt::format("{:.0f} kB", value / 1e3);
  return value < 1e9 ? fmt::format("{:.1f} MB", value / 1e6)
                     : fmt::format("{:.2f} GB", value / 1e9);
}

std::string steps_line(std::uint64_t blocks, std::uint64_t batch, blocks::Remainder remainder) {
  const auto plan = blocks::StepPlan::make({blocks, batch, 1, 1, remainder});
  if (!plan) {
    return fmt::format("  steps      none at a global batch of {}: there are fewer blocks\n",
                       batch);
  }
  std::string worlds;
  const auto sizes = blocks::valid_world_sizes(batch, 1);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes.size() > 8 && i == 4) worlds += ", ...";
    if (sizes.size() > 8 && i >= 4 && i + 2 < sizes.size()) continue;
    worlds += (worlds.empty() ? "" : ", ") + grouped(sizes[i]);
  }
  std::string rest;
  if (plan->dropped_blocks() > 0) {
    rest = fmt::format("; {} blocks of an epoch are in none", grouped(plan->dropped_blocks()));
  }
  if (plan->repeated_blocks() > 0) {
    rest = fmt::format("; the last takes {} of the next epoch", grouped(plan->repeated_blocks()));
  }
  return fmt::format("  steps      {} at a global batch of {}, on every rank of {}{}\n",
                     grouped(plan->steps()), batch, worlds, rest);
}

std::string faults_text(const PackResult& result, const std::string& out) {
  std::string text;
  for (std::size_t i = 0; i < records::kFaultCount; ++i) {
    const std::uint64_t count = result.count.faults[i];
    if (count == 0) continue;
    const auto fault = static_cast<records::Fault>(i);
    text += fmt::format("  {:<10} {} {}\n", records::loses_record(fault) ? "LOST" : "seen",
                        grouped(count), records::fault_words(fault));
  }
  if (text.empty()) return text;
  for (const std::string& line : result.first_errors) {
    text += fmt::format("             {}\n", escape_controls(line, 160));
  }
  return text + fmt::format("             all of them: {}/errors.jsonl\n", escape_controls(out));
}

// Somebody may want a file twice; who named a folder and a file of it does not.
std::string repeats_text(const blocks::PackManifest& manifest) {
  std::map<std::string, const blocks::PackInput*> first;
  std::string text;
  std::size_t repeats = 0;
  for (const blocks::PackInput& input : manifest.inputs) {
    if (input.bytes == 0 || input.hash.empty()) continue;
    const auto [known, fresh] = first.emplace(input.hash, &input);
    if (fresh || repeats++ > 0) continue;
    const std::string path = escape_controls(input.path, 60);
    const std::string other = escape_controls(known->second->path, 60);
    text = "  TWICE      " + path +
           (path == other ? " was named before" : " holds the bytes of " + other) +
           ": its documents are in the pack again";
  }
  if (repeats > 1) text += fmt::format("; so are those of {} more", grouped(repeats - 1));
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

PackProgressLine::PackProgressLine()
    : terminal_(isatty(STDERR_FILENO) == 1), next_(system_clock().mono() + kFirst) {}

void PackProgressLine::show(const PackProgress& progress) {
  if (!terminal_) return;
  const MonoTime now = system_clock().mono();
  if (!begun_ && !progress.again) {
    begun_ = true;
    begin_ = now;
    first_ = progress;
  }
  if (now < next_) return;
  next_ = now + kStep;
  shown_ = true;
  const double seconds = std::chrono::duration<double>(begun_ ? now - begin_ : Duration{}).count();
  std::fputs(("\r\x1b[K" + progress_text(first_, progress, seconds)).c_str(), stderr);
  std::fflush(stderr);
}

void PackProgressLine::clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

std::string progress_text(const PackProgress& first, const PackProgress& now, double seconds) {
  std::string line = now.again ? "comparing" : "packing";
  if (now.of_bytes > 0) {
    const double share = static_cast<double>(now.file_bytes) / static_cast<double>(now.of_bytes);
    line += fmt::format("  {:3.0f} %  {} of {}", std::min(share, 1.0) * 100,
                        bytes_text(now.file_bytes), bytes_text(now.of_bytes));
  } else {
    line += "  " + bytes_text(now.file_bytes);
  }
  if (now.again || seconds <= 0) return line;
  const double rate = static_cast<double>(now.text_bytes - first.text_bytes) / seconds;
  line += fmt::format("  {:.1f} MB/s  {:.2f} Mtok/s", rate / 1e6,
                      static_cast<double>(now.tokens - first.tokens) / seconds / 1e6);
  const auto done = static_cast<double>(now.file_bytes - first.file_bytes);
  if (now.of_bytes > now.file_bytes && done > 0) {
    line += fmt::format(
        "  {} left",
        duration_text(static_cast<double>(now.of_bytes - now.file_bytes) / done * seconds));
  }
  if (now.errors > 0) line += fmt::format("  {} records lost", grouped(now.errors));
  return line;
}

std::string pack_screen(const PackResult& result, const std::string& out,
                        const std::string& tokenizer, const std::string& eos_text) {
  const blocks::PackManifest& m = result.manifest;
  std::uint64_t read = 0, bytes = 0;
  for (const blocks::PackInput& input : m.inputs) {
    read += input.records;
    bytes += input.bytes;
  }
  std::string text = fmt::format("packed {}\n", escape_controls(out));
  text += fmt::format(
      "  documents  {} of {} records in {} ({})\n", grouped(m.documents.value_or(0)), grouped(read),
      m.inputs.size() == 1 ? "one file" : grouped(m.inputs.size()) + " files", bytes_text(bytes));
  text += fmt::format("  tokens     {}", grouped(m.document_tokens));
  if (m.eos) {
    text += fmt::format(", {} of them EOS put behind documents ({} {})", grouped(m.eos_added),
                        escape_controls(eos_text, 40), *m.eos);
  }
  text += fmt::format("\n  blocks     {} of {} tokens, {}", grouped(m.blocks),
                      grouped(m.block_tokens), blocks::pack_mode_name(m.mode));
  if (m.tail_tokens > 0)
    text += fmt::format("; {} tokens behind the last are left out", grouped(m.tail_tokens));
  if (m.pad_tokens > 0) text += fmt::format("; {} tokens of padding", grouped(m.pad_tokens));
  if (m.truncated_tokens > 0) {
    text += fmt::format("; {} tokens cut off {} documents", grouped(m.truncated_tokens),
                        grouped(m.truncated_documents));
  }
  text += fmt::format("\n  trained    {} tokens count in the loss\n", grouped(m.trained_tokens));
  if (m.global_batch) {
    text += steps_line(m.blocks, *m.global_batch, m.remainder);
  } else {
    for (const std::uint64_t batch : kUsualBatches)
      text += steps_line(m.blocks, batch, m.remainder);
  }
  return text + repeats_text(m) + faults_text(result, out) +
         fmt::format("next  muster pack verify {} --tokenizer {}\n", escape_controls(out),
                     escape_controls(tokenizer));
}

}  // namespace muster
