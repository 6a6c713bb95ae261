#include "app/pack_convert.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "app/open_pack.h"
#include "app/pack_export.h"
#include "app/pack_files.h"
#include "app/pack_source.h"
#include "app/part_folder.h"
#include "base/limits.h"
#include "core/blocks/concat_packer.h"
#include "edge/os/files.h"

namespace muster {
namespace {

bool is_pack(const std::string& path) {
  return real_files().stat(path + "/" + std::string(blocks::kManifestName)).has_value();
}

Error refuse(std::string text) {
  return make_error(Errc::invalid_input, std::move(text));
}

Status check_ids(const blocks::TokenRun& run, std::uint64_t bound) {
  const auto bad = std::find_if(run.ids.begin(), run.ids.end(), [bound](std::int32_t id) {
    return id < 0 || static_cast<std::uint64_t>(id) >= bound;
  });
  if (bad == run.ids.end()) return {};
  return refuse(fmt::format("id {} is not below {}", *bad, bound));
}

Status copy_runs(PackSource& source, std::uint64_t bound, blocks::ConcatPacker& packer,
                 std::uint64_t& documents, const TokenProgress& progress) {
  blocks::TokenRun run;
  std::uint64_t done = 0;
  for (;;) {
    Status fine = source.next(run);
    if (!fine || (run.ids.empty() && run.ends.empty())) return fine;
    fine = check_ids(run, bound);
    if (fine) fine = packer.add(run);
    if (!fine) return fine;
    documents += run.ends.size();
    done += run.ids.size();
    if (!progress(done, source.tokens())) {
      return make_error(Errc::unavailable, "stopped: nothing is left of what was written");
    }
  }
}

Result<PackConverted> make_pack(const PackConvertRequest& request, const TokenProgress& progress) {
  const std::uint64_t length = request.block_tokens;
  if (length < 8 || length % 8 != 0 || length > limits::kPackBlockTokens) {
    return refuse("a block is a multiple of 8 tokens, at most 1048576");
  }
  auto source = open_pack_source(request.inputs, {length, request.eos});
  if (!source) return source.error();
  auto part = PartFolder::begin(real_work_folders(), request.out);
  if (!part) return part.error();
  auto files = PackFiles::open(part->folder(), "", static_cast<std::uint32_t>(length));
  if (!files) return files.error();
  blocks::ConcatPacker packer(static_cast<std::uint32_t>(length), **files);
  blocks::PackManifest manifest;
  std::uint64_t documents = 0;
  const std::uint64_t bound = request.vocabulary_count.value_or(std::uint64_t{1} << 31);
  Status copied = copy_runs(**source, bound, packer, documents, progress);
  if (!copied) return copied.error();
  manifest.inputs = (*source)->inputs();
  manifest.vocabulary_count = request.vocabulary_count;
  manifest.eos = request.eos;
  if ((*source)->knows_documents()) manifest.documents = documents;
  manifest.document_tokens = (*source)->tokens();
  manifest.tail_tokens = packer.pending().ids.size();
  if (request.global_batch > 0) manifest.global_batch = request.global_batch;
  manifest.remainder = request.remainder.value_or(blocks::Remainder::drop);
  const auto written = (*files)->seal(std::move(manifest));
  if (!written) return written.error();
  const std::string text = encode_manifest(*written) + "\n";
  Status kept = part->folder().remove(std::string(blocks::kErrorsName));  // there were no records
  if (kept) kept = part->folder().write_whole(std::string(blocks::kManifestName), text);
  if (kept) kept = part->keep();
  if (!kept) return kept.error();
  std::string summary = fmt::format(
      "pack {}: {} blocks of {} tokens, {} documents, {} tokens left behind the last whole block",
      manifest_identity(*written), written->blocks, written->block_tokens,
      written->documents ? std::to_string(*written->documents) : "unknown", written->tail_tokens);
  if (const std::uint64_t bytes = (*source)->left_out_bytes(); bytes > 0) {
    summary += fmt::format(
        "; {} bytes behind the whole blocks of the files are no block and in "
        "none",
        bytes);
  }
  return PackConverted{std::move(summary)};
}

Result<PackConverted> split_pack(const PackConvertRequest& request, const OpenPack& pack,
                                 const TokenProgress& progress) {
  blocks::StepShape shape{pack.manifest().blocks, request.global_batch, request.micro_batch,
                          request.world_size,
                          request.remainder.value_or(pack.manifest().remainder)};
  if (shape.global_batch == 0) shape.global_batch = pack.manifest().global_batch.value_or(0);
  const auto plan = blocks::StepPlan::make(shape);
  if (!plan) return plan.error();
  Status done = export_ranks(pack, *plan, request.seed, request.epoch, request.out, progress);
  if (!done) return done.error();
  return PackConverted{fmt::format(
      "{} files of {} blocks: {} steps of {} micro batches of {}; {} blocks are in none, {} twice",
      shape.world_size, plan->blocks_of_rank(), plan->steps(), plan->accumulation(),
      shape.micro_batch, plan->dropped_blocks(), plan->repeated_blocks())};
}

}  // namespace

Result<PackConverted> convert_pack(const PackConvertRequest& request,
                                   const TokenProgress& progress) {
  if (request.inputs.empty()) return refuse("name what is to be converted");
  if (request.out.empty()) return refuse("name what is to be written (--out)");
  const bool from_pack = is_pack(request.inputs.front());
  if (request.to == PackForm::pack) {
    if (!from_pack) return make_pack(request, progress);
    return refuse(request.inputs.front() + " is a pack already");
  }
  if (!from_pack || request.inputs.size() != 1) {
    return refuse("this form is made of one pack; make a pack first (--to pack)");
  }
  std::string damaged;
  const auto pack = OpenPack::open(request.inputs.front(), damaged);
  if (!pack) return pack.error();
  if (request.to == PackForm::ranks) return split_pack(request, *pack, progress);
  const bool numpy = request.to == PackForm::numpy;
  Status done = numpy ? export_numpy(*pack, request.out, progress)
                      : export_megatron(*pack, request.out, progress);
  if (!done) return done.error();
  const blocks::PackManifest& manifest = pack->manifest();
  return PackConverted{numpy ? fmt::format("{}: {} rows of {} ids", request.out, manifest.blocks,
                                           manifest.block_tokens)
                             : fmt::format("{0}.bin and {0}.idx: {1} tokens", request.out,
                                           manifest.tokens() - manifest.pad_tokens)};
}

}  // namespace muster
