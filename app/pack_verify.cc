#include "app/pack_verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "app/open_pack.h"
#include "app/pack_samples.h"
#include "app/pack_vocabulary.h"
#include "base/memory_bytes.h"
#include "core/blocks/block_hash.h"
#include "core/blocks/block_order.h"
#include "core/blocks/block_scan.h"
#include "core/blocks/doc_ends.h"
#include "core/blocks/step_proof.h"
#include "edge/os/files.h"

namespace muster {
namespace {

constexpr std::uint64_t kChunkBytes = 4 * 1024 * 1024;  // of ids, by one thread at a time
constexpr std::uint64_t kQuickBlocks = 64;

// What is wrong first, of what the threads met before they stopped.
struct Fault {
  std::uint64_t at = 0;
  std::string_view file;
  Error error;
};

class Faults {
 public:
  void add(std::uint64_t at, std::string_view file, Error error) {
    const std::lock_guard lock(mutex_);
    if (!first_ || at < first_->at) first_ = Fault{at, file, std::move(error)};
    any_ = true;
  }
  bool any() const { return any_; }
  const std::optional<Fault>& first() const { return first_; }

 private:
  std::mutex mutex_;
  std::atomic<bool> any_ = false;
  std::optional<Fault> first_;
};

class Verifier {
 public:
  Verifier(const OpenPack& files, const TokenProgress& progress, Faults& faults)
      : files_(files), manifest_(files.manifest()), progress_(progress), faults_(faults) {}

  // Everything that is in the files; `threads` beside this one.
  void whole(unsigned threads) {
    std::vector<std::jthread> others;
    others.reserve(threads);
    for (unsigned i = 0; i + 1 < threads; ++i) others.emplace_back([this] { work(); });
    work();
    others.clear();
    if (faults_.any()) return;
    if (Status fine = blocks::check_counts(manifest_, counts_, piece_tokens_); !fine) {
      faults_.add(~std::uint64_t{0}, blocks::kManifestName, fine.error());
    }
  }

  void sample(std::uint64_t seed) {
    const std::uint64_t n = manifest_.blocks;
    if (n == 0) return;
    const blocks::BlockOrder order(n, seed, 0);
    for (std::uint64_t i = 0; i < std::min(n, kQuickBlocks); ++i) {
      const std::uint64_t block = order.at(i);
      std::vector<std::uint64_t> hashes;
      if (!group_hashes(block / blocks::kGroupBlocks, hashes)) return;
      std::vector<std::int32_t> ids;
      std::vector<std::uint8_t> loss;
      if (Status read = files_.read_blocks(block, 1, ids, loss); !read) {
        return faults_.add(block, blocks::kBlocksName, read.error());
      }
      if (!same_hash(block, ids, hashes[block % blocks::kGroupBlocks])) return;
    }
  }

 private:
  // Two jobs of their own, then the groups of blocks.
  void work() {
    for (;;) {
      const std::uint64_t job = next_job_++;
      if (faults_.any()) return;
      if (job == 0) {
        doc_ends();
      } else if (job == 1) {
        loss_bits();
      } else if (job - 2 < blocks::groups_of(manifest_.blocks)) {
        group(job - 2);
      } else {
        return;
      }
    }
  }

  void doc_ends() {
    blocks::DocEndsCheck check(manifest_.tokens(), manifest_.block_tokens,
                               manifest_.mode != blocks::PackMode::concat);
    blocks::RunningHash hash;
    std::vector<std::uint64_t> ends;
    for (std::uint64_t at = 0; at < manifest_.pieces; at += ends.size()) {
      ends.resize(std::min<std::uint64_t>(manifest_.pieces - at, kChunkBytes / 8));
      Status fine = files_.read_ends(at, ends);
      if (fine) fine = check.add(ends);
      if (!fine) return faults_.add(0, blocks::kDocEndsName, fine.error());
      hash.add(memory_bytes(std::span<const std::uint64_t>(ends)));
    }
    piece_tokens_ = check.piece_tokens();
    if (hash_text(hash.value()) != manifest_.doc_ends_hash) {
      faults_.add(0, blocks::kDocEndsName, make_error(Errc::corrupt, "its hash is another"));
    }
  }

  void loss_bits() {
    blocks::RunningHash hash;
    const std::uint64_t bytes = manifest_.tokens() / 8;
    std::vector<char> buffer;
    for (std::uint64_t at = 0; at < bytes; at += buffer.size()) {
      buffer.resize(std::min(bytes - at, kChunkBytes));
      if (Status read = files_.read_loss(at, buffer); !read) {
        return faults_.add(0, blocks::kLossBitsName, read.error());
      }
      hash.add({buffer.data(), buffer.size()});
    }
    if (hash_text(hash.value()) != manifest_.loss_bits_hash) {
      faults_.add(0, blocks::kLossBitsName, make_error(Errc::corrupt, "its hash is another"));
    }
  }

  bool group_hashes(std::uint64_t group, std::vector<std::uint64_t>& hashes) {
    const std::uint64_t first = group * blocks::kGroupBlocks;
    hashes.resize(std::min(blocks::kGroupBlocks, manifest_.blocks - first));
    Status fine = files_.read_hashes(first, hashes);
    if (fine && hash_text(blocks::hash_group(hashes)) != manifest_.groups[group]) {
      fine = make_error(Errc::corrupt, fmt::format("the hashes from block {} on are not those of "
                                                   "the manifest",
                                                   first));
    }
    if (!fine) faults_.add(first, blocks::kHashesName, fine.error());
    return fine.has_value();
  }

  bool same_hash(std::uint64_t block, std::span<const std::int32_t> ids, std::uint64_t expected) {
    if (blocks::hash_block(ids) == expected) return true;
    faults_.add(block, blocks::kBlocksName,
                make_error(Errc::corrupt, fmt::format("block {}: its hash is another", block)));
    return false;
  }

  void group(std::uint64_t group) {
    std::vector<std::uint64_t> hashes;
    if (!group_hashes(group, hashes)) return;
    const std::uint64_t length = manifest_.block_tokens;
    const std::uint64_t step = std::max<std::uint64_t>(1, kChunkBytes / 4 / length);
    blocks::BlockCounts counts;
    std::vector<std::int32_t> ids;
    std::vector<std::uint8_t> loss;
    std::vector<std::uint64_t> ends;
    for (std::uint64_t i = 0; i < hashes.size() && !faults_.any(); i += step) {
      const std::uint64_t first = group * blocks::kGroupBlocks + i;
      const std::uint64_t count = std::min<std::uint64_t>(step, hashes.size() - i);
      if (Status read = files_.read_blocks(first, count, ids, loss); !read) {
        return faults_.add(first, blocks::kBlocksName, read.error());
      }
      for (std::uint64_t b = 0; b < count; ++b) {
        const auto block = std::span<const std::int32_t>(ids).subspan(b * length, length);
        if (!same_hash(first + b, block, hashes[i + b])) return;
      }
      Status fine = ends_of(first, count, ends);
      if (fine) fine = blocks::scan_blocks(manifest_, first, ids, loss, ends, counts);
      if (fine) fine = tell(count);
      if (!fine) return faults_.add(first, blocks::kBlocksName, fine.error());
    }
    const std::lock_guard lock(counts_mutex_);
    counts_.add(counts);
  }

  Status tell(std::uint64_t more_blocks) {
    const std::lock_guard lock(counts_mutex_);
    told_blocks_ += more_blocks;
    if (!progress_ || progress_(told_blocks_ * manifest_.block_tokens, manifest_.tokens()))
      return {};
    return make_error(Errc::unavailable, "stopped");
  }

  // Entries within these blocks and one beyond; entries that do not rise end at as many as there
  // are tokens.
  Status ends_of(std::uint64_t first, std::uint64_t count, std::vector<std::uint64_t>& ends) const {
    const std::uint64_t start = first * manifest_.block_tokens;
    const std::uint64_t stop = start + count * manifest_.block_tokens;
    const auto begin = files_.first_end_beyond(start);
    if (!begin) return begin.error();
    ends.clear();
    while (ends.size() <= stop - start && (ends.empty() || ends.back() <= stop)) {
      const std::uint64_t next = *begin + ends.size();
      const std::uint64_t more = std::min<std::uint64_t>(manifest_.pieces - next, 1024);
      if (more == 0) return {};
      ends.resize(ends.size() + more);
      Status read = files_.read_ends(next, std::span(ends).last(more));
      if (!read) return read;
    }
    return {};
  }

  const OpenPack& files_;
  const blocks::PackManifest& manifest_;
  const TokenProgress& progress_;
  Faults& faults_;
  std::atomic<std::uint64_t> next_job_ = 0;
  std::mutex counts_mutex_;
  blocks::BlockCounts counts_;
  std::uint64_t piece_tokens_ = 0, told_blocks_ = 0;
};

// What is damage is the answer; what is of the machine ended the verb.
bool is_damage(const Error& error) {
  return error.code == Errc::corrupt || error.code == Errc::invalid_input;
}

PackVerdict verdict_of(Finding finding) {
  PackVerdict out;
  out.report.verb = "pack verify";
  out.report.findings.push_back(std::move(finding));
  return out;
}

PackVerdict damaged(const std::string& path, std::string text, Cause cause) {
  Finding finding;
  finding.severity = Severity::critical;
  finding.confidence = Confidence::high;
  finding.cause = cause;
  finding.culprits.push_back({CulpritKind::file, path});
  finding.summary = std::move(text);
  finding.actions = {Action::refuse_launch, Action::fix_data};
  finding.next =
      "Do not train on it: copy the pack again from where it verifies, or build it again.";
  return verdict_of(std::move(finding));
}

PackVerdict uneven(std::string text) {
  PackVerdict out = damaged("", std::move(text), Cause::uneven_steps);
  out.report.findings[0].culprits.clear();
  out.report.findings[0].next = "This is a defect of muster: report it with the line above.";
  return out;
}

PackVerdict fine(std::string line) {
  Finding finding;
  finding.severity = Severity::ok;
  finding.confidence = Confidence::high;
  finding.cause = Cause::healthy;
  finding.summary = line;
  finding.actions = {Action::none};
  PackVerdict out = verdict_of(std::move(finding));
  out.line = std::move(line);
  return out;
}

std::string line_of(const blocks::PackManifest& manifest, bool quick) {
  return fmt::format("pack {} verified={} blocks={}x{} documents={} tail={} truncated={} pad={}",
                     manifest_identity(manifest), quick ? "quick" : "full", manifest.blocks,
                     manifest.block_tokens,
                     manifest.documents ? std::to_string(*manifest.documents) : "unknown",
                     manifest.tail_tokens, manifest.truncated_tokens, manifest.pad_tokens);
}

std::string world_sizes(const std::vector<std::uint64_t>& sizes) {
  std::string out;
  for (const std::uint64_t size : sizes) out += fmt::format("{}{}", out.empty() ? "" : ",", size);
  return out;
}

struct Step {
  blocks::StepShape shape;
  std::optional<blocks::StepPlan> plan;  // nothing: no global batch is known
};

Result<Step> step_of(const PackVerifyRequest& request, const blocks::PackManifest& manifest) {
  Step out;
  const auto batch = request.global_batch ? request.global_batch : manifest.global_batch;
  out.shape = {manifest.blocks, batch.value_or(0), request.micro_batch, 1,
               request.remainder.value_or(manifest.remainder)};
  if (!batch) return out;
  auto made = blocks::StepPlan::make(out.shape);
  if (!made) return made.error();
  out.plan = *made;
  return out;
}

// Which step sees how many blocks.
std::string steps_text(const blocks::StepPlan& plan) {
  const bool fill = plan.shape().remainder == blocks::Remainder::fill;
  return fmt::format(" steps={}x{} {}={}", plan.steps(), plan.shape().global_batch,
                     fill ? "repeated" : "dropped",
                     fill ? plan.repeated_blocks() : plan.dropped_blocks());
}

Result<PackSamples> samples_of(const PackVerifyRequest& request, const OpenPack& pack) {
  const auto eos = pack.manifest().eos;
  const auto loaded = load_pack_vocabulary(
      {.tokenizer = request.tokenizer, .eos = eos ? std::to_string(*eos) : "none"}, real_files());
  if (!loaded && loaded.error().code == Errc::invalid_input) {
    return make_error(Errc::invalid_input,
                      "--tokenizer is none, or not that of the pack: " + loaded.error().context);
  }
  if (!loaded) return loaded.error();
  return compare_samples(pack, loaded->vocabulary, real_files(), request.seed, request.progress);
}

// The files are sound and `line` says so; what the inputs say of it.
PackVerdict judge_samples(const PackVerifyRequest& request, const PackSamples& samples,
                          const std::string& line) {
  if (samples.different) {
    const Evidence& at = *samples.different;
    PackVerdict out =
        damaged(request.folder,
                fmt::format("{} is not what its inputs give: {}{}: {}", request.folder, at.source,
                            at.line ? fmt::format(":{}", *at.line) : "", at.text),
                Cause::data_damaged);
    out.report.findings[0].evidence.push_back(at);
    out.report.findings[0].next = "Do not train on it: build it again from these inputs.";
    out.report.blind = samples.blind;
    return out;
  }
  if (samples.blind.empty()) return fine(line + fmt::format(" samples={}", samples.compared));
  PackVerdict out = fine(line);
  Finding& finding = out.report.findings[0];
  finding.severity = Severity::info;
  finding.cause = Cause::undetermined;
  finding.summary = fmt::format(
      "{} is sound in itself; {} of {} documents were held against their inputs, and "
      "were equal: the others' inputs are not at hand",
      request.folder, samples.compared, samples.documents);
  finding.evidence.push_back({request.folder, std::nullopt, line});
  finding.next = "Give the inputs back their names and contents, or run it where they are.";
  out.report.blind = samples.blind;
  out.line.clear();
  return out;
}

}  // namespace

Result<PackVerdict> verify_pack(const PackVerifyRequest& request) {
  std::string damaged_file;
  const auto files = OpenPack::open(request.folder, damaged_file);
  if (!files && (damaged_file.empty() || !is_damage(files.error()))) return files.error();
  if (!files) return damaged(damaged_file, files.error().context, Cause::data_damaged);
  const blocks::PackManifest& manifest = files->manifest();
  const auto step = step_of(request, manifest);
  if (!step) return step.error();
  Faults faults;
  Verifier verifier(*files, request.progress, faults);
  if (request.quick) {
    verifier.sample(request.sample);
  } else {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    verifier.whole(request.threads == 0 ? cores : request.threads);
  }
  if (const auto& fault = faults.first()) {
    if (!is_damage(fault->error)) return fault->error;
    const std::string path = request.folder + "/" + std::string(fault->file);
    const bool id = fault->error.code == Errc::invalid_input;
    return damaged(path, path + ": " + fault->error.context,
                   id ? Cause::token_id_out_of_range : Cause::data_damaged);
  }
  std::string line = line_of(manifest, request.quick);
  line += step->plan ? steps_text(*step->plan) : " steps=unknown";
  if (step->plan && !request.quick) {
    const auto proof =
        blocks::prove_steps(step->shape, request.seed, request.epoch, manifest_identity(manifest));
    if (!proof) return uneven(proof.error().context);
    line += fmt::format(" micro={} world={} seed={} epoch={} order={}", step->shape.micro_batch,
                        world_sizes(proof->world_sizes), request.seed, request.epoch, proof->order);
  }
  if (request.tokenizer.empty() || request.quick) return fine(std::move(line));
  const auto samples = samples_of(request, *files);
  if (!samples) return samples.error();
  return judge_samples(request, *samples, line);
}

}  // namespace muster
