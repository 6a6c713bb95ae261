#include "core/blocks/plan_names.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "base/text.h"

namespace muster::blocks {
namespace {

struct RoleName {
  std::string_view name;
  PlanRole role;
};

constexpr RoleName kRoles[] = {
    {"block", PlanRole::block_tokens},
    {"block_size", PlanRole::block_tokens},
    {"block_tokens", PlanRole::block_tokens},
    {"block_len", PlanRole::block_tokens},
    {"block_length", PlanRole::block_tokens},
    {"seq_len", PlanRole::block_tokens},
    {"seq_length", PlanRole::block_tokens},
    {"seqlen", PlanRole::block_tokens},
    {"sequence_length", PlanRole::block_tokens},
    {"max_seq_len", PlanRole::block_tokens},
    {"max_seq_length", PlanRole::block_tokens},
    {"context_length", PlanRole::block_tokens},
    {"pack_length", PlanRole::block_tokens},
    {"dtype", PlanRole::id_bytes},
    {"token_dtype", PlanRole::id_bytes},
    {"ids_dtype", PlanRole::id_bytes},
    {"data_dtype", PlanRole::id_bytes},
    {"micro_batch", PlanRole::micro_batch},
    {"micro_batch_size", PlanRole::micro_batch},
    {"microbatch", PlanRole::micro_batch},
    {"microbatch_size", PlanRole::micro_batch},
    {"device_train_microbatch_size", PlanRole::micro_batch},
    {"mbs", PlanRole::micro_batch},
    {"per_device_batch_size", PlanRole::micro_batch},
    {"per_device_train_batch_size", PlanRole::micro_batch},
    {"per_gpu_batch_size", PlanRole::micro_batch},
    {"batch_size_per_gpu", PlanRole::micro_batch},
    {"batch_size_per_device", PlanRole::micro_batch},
    {"batch_size_per_rank", PlanRole::micro_batch},
    {"train_micro_batch_size_per_gpu", PlanRole::micro_batch},
    {"local_batch_size", PlanRole::micro_batch},
    {"batch_size", PlanRole::batch_size},
    {"batch", PlanRole::batch_size},
    {"global_batch", PlanRole::global_batch},
    {"global_batch_size", PlanRole::global_batch},
    {"global_train_batch_size", PlanRole::global_batch},
    {"train_batch_size", PlanRole::global_batch},
    {"gbs", PlanRole::global_batch},
    {"grad_accum", PlanRole::accumulation},
    {"grad_accum_steps", PlanRole::accumulation},
    {"grad_accumulation", PlanRole::accumulation},
    {"grad_accumulation_steps", PlanRole::accumulation},
    {"gradient_accumulation", PlanRole::accumulation},
    {"gradient_accumulation_steps", PlanRole::accumulation},
    {"accumulate_grad_batches", PlanRole::accumulation},
    {"accumulate", PlanRole::accumulation},
    {"accumulation", PlanRole::accumulation},
    {"accumulation_steps", PlanRole::accumulation},
    {"world_size", PlanRole::world_size},
    {"world", PlanRole::world_size},
    {"ranks", PlanRole::world_size},
    {"num_ranks", PlanRole::world_size},
    {"n_ranks", PlanRole::world_size},
    {"nranks", PlanRole::world_size},
    {"num_gpus", PlanRole::world_size},
    {"n_gpus", PlanRole::world_size},
    {"dp_size", PlanRole::world_size},
    {"dp_world_size", PlanRole::world_size},
    {"data_parallel_size", PlanRole::world_size},
    {"evenfix", PlanRole::even_steps},
    {"dispatch_batches", PlanRole::even_steps},
    {"even_steps", PlanRole::even_steps},
    {"even_batches", PlanRole::even_steps},
    {"equal_steps", PlanRole::even_steps},
    {"equalize_steps", PlanRole::even_steps},
    {"equalize", PlanRole::even_steps},
    {"drop_last", PlanRole::drop_last},
    {"dataloader_drop_last", PlanRole::drop_last},
    {"drop_remainder", PlanRole::drop_last},
    {"dataset_samples", PlanRole::dataset_samples},
    {"dataset_size", PlanRole::dataset_samples},
    {"dataset_records", PlanRole::dataset_samples},
    {"num_samples", PlanRole::dataset_samples},
    {"n_samples", PlanRole::dataset_samples},
    {"total_samples", PlanRole::dataset_samples},
    {"train_samples", PlanRole::dataset_samples},
    {"total_records", PlanRole::dataset_samples},
    {"per_rank_samples", PlanRole::rank_samples},
    {"samples_per_rank", PlanRole::rank_samples},
    {"samples_per_gpu", PlanRole::rank_samples},
    {"per_gpu_samples", PlanRole::rank_samples},
    {"per_device_samples", PlanRole::rank_samples},
    {"local_samples", PlanRole::rank_samples},
    {"max_steps", PlanRole::max_steps},
    {"max_train_steps", PlanRole::max_steps},
    {"max_iters", PlanRole::max_steps},
    {"train_iters", PlanRole::max_steps},
    {"train_steps", PlanRole::max_steps},
    {"target_step", PlanRole::max_steps},
    {"join", PlanRole::forgiving},
    {"ddp_join", PlanRole::forgiving},
    {"join_uneven_inputs", PlanRole::forgiving},
    {"infinite", PlanRole::forgiving},
    {"repeat", PlanRole::forgiving},
    {"resampled", PlanRole::forgiving},
    {"loop_dataset", PlanRole::forgiving},
};

struct ColumnName {
  std::string_view name;
  PlanColumn column;
};

constexpr ColumnName kColumns[] = {
    {"rank", PlanColumn::rank},           {"global_rank", PlanColumn::rank},
    {"rank_id", PlanColumn::rank},        {"dp_rank", PlanColumn::rank},
    {"file", PlanColumn::file},           {"path", PlanColumn::file},
    {"filename", PlanColumn::file},       {"file_name", PlanColumn::file},
    {"name", PlanColumn::file},           {"shard", PlanColumn::file},
    {"bytes", PlanColumn::bytes},         {"size", PlanColumn::bytes},
    {"size_bytes", PlanColumn::bytes},    {"file_bytes", PlanColumn::bytes},
    {"file_size", PlanColumn::bytes},     {"filesize", PlanColumn::bytes},
    {"samples", PlanColumn::samples},     {"num_samples", PlanColumn::samples},
    {"n_samples", PlanColumn::samples},   {"records", PlanColumn::samples},
    {"rows", PlanColumn::samples},        {"num_rows", PlanColumn::samples},
    {"examples", PlanColumn::samples},    {"documents", PlanColumn::samples},
    {"docs", PlanColumn::samples},        {"sequences", PlanColumn::samples},
    {"items", PlanColumn::samples},       {"utterances", PlanColumn::samples},
    {"blocks", PlanColumn::blocks},       {"num_blocks", PlanColumn::blocks},
    {"n_blocks", PlanColumn::blocks},     {"packed_blocks", PlanColumn::blocks},
    {"local_blocks", PlanColumn::blocks}, {"tokens", PlanColumn::tokens},
    {"num_tokens", PlanColumn::tokens},   {"n_tokens", PlanColumn::tokens},
    {"batches", PlanColumn::batches},     {"num_batches", PlanColumn::batches},
    {"n_batches", PlanColumn::batches},   {"steps", PlanColumn::steps},
    {"num_steps", PlanColumn::steps},     {"n_steps", PlanColumn::steps},
    {"total_steps", PlanColumn::steps},
};

// Lower case, '_' for '-' and blanks, without dashes in front and what is before the last dot.
std::string plain_name(std::string_view name) {
  while (name.starts_with('-')) name.remove_prefix(1);
  const std::size_t dot = name.rfind('.');
  if (dot != std::string_view::npos) name.remove_prefix(dot + 1);
  std::string out = to_lower(trim(name));
  std::replace(out.begin(), out.end(), '-', '_');
  std::replace(out.begin(), out.end(), ' ', '_');
  return out;
}

std::optional<std::uint64_t> yes_or_no(std::string_view text) {
  const std::string low = to_lower(text);
  for (const std::string_view word : {"1", "true", "yes", "on", "y", "enabled", "min"}) {
    if (low == word) return 1;
  }
  for (const std::string_view word : {"0", "false", "no", "off", "n", "disabled", "none"}) {
    if (low == word) return 0;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> bytes_of_type(std::string_view text) {
  std::string low = to_lower(text);
  for (const std::string_view front : {"torch.", "np.", "numpy.", "<", "u"}) {
    if (low.starts_with(front)) low.erase(0, front.size());
  }
  if (low == "int32" || low == "i32" || low == "i4") return 4;
  if (low == "int16" || low == "i16" || low == "i2") return 2;
  if (low == "int64" || low == "i64" || low == "i8") return 8;
  return std::nullopt;
}

}  // namespace

std::optional<PlanRole> plan_role(std::string_view name) {
  const std::string plain = plain_name(name);
  for (const RoleName& row : kRoles) {
    if (plain == row.name) return row.role;
  }
  return std::nullopt;
}

std::optional<PlanColumn> plan_column(std::string_view name) {
  const std::string plain = plain_name(name);
  for (const ColumnName& row : kColumns) {
    if (plain == row.name) return row.column;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> plan_number(std::string_view text) {
  constexpr std::size_t kDigits = 19;
  std::string digits;
  std::size_t group = 0;
  char separator = 0;
  for (const char c : text) {
    if (is_digit(c)) {
      digits += c;
      ++group;
      continue;
    }
    const bool first = separator == 0;
    if ((c != ',' && c != '_') || (!first && c != separator)) return std::nullopt;
    if (group == 0 || group > 3 || (!first && group != 3)) return std::nullopt;
    separator = c;
    group = 0;
  }
  if (digits.empty() || digits.size() > kDigits || (separator != 0 && group != 3)) {
    return std::nullopt;
  }
  const auto value = parse_int(digits);
  if (!value) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

std::optional<std::uint64_t> plan_value(PlanRole role, std::string_view text) {
  switch (role) {
    case PlanRole::even_steps:
    case PlanRole::drop_last:
    case PlanRole::forgiving:
      return yes_or_no(text);
    case PlanRole::id_bytes:
      return bytes_of_type(text);
    case PlanRole::max_steps:  // "-1" and "0" set no end
      return plan_number(text) == 0u ? std::nullopt : plan_number(text);
    default:
      return plan_number(text);
  }
}

}  // namespace muster::blocks
