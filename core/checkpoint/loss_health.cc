#include "core/checkpoint/loss_health.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/model/json_reader.h"

namespace muster::checkpoint {
namespace {

constexpr std::size_t kHighRows = 3, kRowsBefore = 16;
constexpr double kHighRatio = 2;
constexpr std::size_t kBadNorms = 2;

// The words of Python that are no JSON become texts, outside of texts.
std::string as_json(std::string_view bytes) {
  static constexpr std::string_view kWords[] = {"NaN", "-Infinity", "Infinity"};
  std::string out;
  out.reserve(bytes.size());
  bool inside = false;
  for (std::size_t i = 0; i < bytes.size();) {
    const char c = bytes[i];
    if (inside && c == '\\' && i + 1 < bytes.size()) {
      out.append(bytes.substr(i, 2));
      i += 2;
      continue;
    }
    if (c == '"') inside = !inside;
    std::string_view word;
    if (!inside && (c == 'N' || c == '-' || c == 'I')) {
      for (const std::string_view w : kWords) {
        if (bytes.substr(i, w.size()) == w) word = w;
      }
    }
    if (word.empty()) {
      out += c;
      ++i;
    } else {
      out.append("\"").append(word).append("\"");
      i += word.size();
    }
  }
  return out;
}

std::optional<double> real(const JsonNode* node) {
  if (node == nullptr) return std::nullopt;
  if (const auto* value = node->get<double>()) return *value;
  if (const auto* value = node->get<std::int64_t>()) return static_cast<double>(*value);
  if (const auto* value = node->get<std::uint64_t>()) return static_cast<double>(*value);
  const auto* text = node->get<std::string>();
  if (text == nullptr) return std::nullopt;
  if (*text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (*text == "Infinity" || *text == "-Infinity") return std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::optional<std::uint64_t> whole(const JsonNode* node) {
  const auto* value = node == nullptr ? nullptr : node->get<std::int64_t>();
  return value != nullptr && *value >= 0 ? std::optional(static_cast<std::uint64_t>(*value))
                                         : std::nullopt;
}

bool bad(const std::optional<double>& value) {
  return value && !std::isfinite(*value);
}

// The losses end with some that are no numbers, or the norms with several.
std::optional<std::uint64_t> not_finite_since(const std::vector<LossRow>& rows) {
  std::size_t losses = 0, norms = 0;
  std::uint64_t since = 0;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (!bad(row->loss) && !bad(row->grad_norm)) break;
    losses += bad(row->loss) ? 1 : 0;
    norms += bad(row->grad_norm) ? 1 : 0;
    since = row->step;
  }
  return losses > 0 || norms >= kBadNorms ? std::optional(since) : std::nullopt;
}

}  // namespace

LossHealth judge_losses(const std::vector<LossRow>& all) {
  LossHealth out;
  std::vector<LossRow> rows;  // without those of evaluations
  for (const LossRow& row : all) {
    if (row.loss || row.grad_norm) rows.push_back(row);
  }
  if (rows.empty()) return out;
  if (const auto since = not_finite_since(rows)) {
    out.kind = LossHealth::Kind::not_finite;
    out.since_step = *since;
    return out;
  }
  out.kind = LossHealth::Kind::fine;
  if (rows.size() < kHighRows + kRowsBefore) return out;
  const auto high = rows.end() - static_cast<std::ptrdiff_t>(kHighRows);
  double before = 0;
  for (auto row = high - static_cast<std::ptrdiff_t>(kRowsBefore); row != high; ++row) {
    if (!row->loss || !std::isfinite(*row->loss)) return out;
    before = std::max(before, *row->loss);
  }
  const bool jumped = std::all_of(high, rows.end(), [before](const LossRow& row) {
    return row.loss && *row.loss > kHighRatio * before;
  });
  if (jumped && before > 0) {
    out.kind = LossHealth::Kind::jumped;
    out.since_step = high->step;
    out.usual = before;
    out.last = *rows.back().loss;
  }
  return out;
}

std::optional<TrainerState> read_trainer_state(std::string_view bytes) {
  const auto document = parse_json(as_json(bytes));
  if (!document) return std::nullopt;
  TrainerState out;
  const auto step = whole(document->find("global_step"));
  if (!step) return std::nullopt;
  out.global_step = *step;
  const JsonNode* history = document->find("log_history");
  const auto* rows = history == nullptr ? nullptr : history->get<JsonNode::Array>();
  if (rows == nullptr) return out;
  for (const JsonNode& node : *rows) {
    const auto at = whole(node.find("step"));
    if (!at) continue;
    out.rows.push_back({*at, real(node.find("loss")), real(node.find("grad_norm"))});
  }
  return out;
}

}  // namespace muster::checkpoint
