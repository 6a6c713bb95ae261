#include "core/progress/step_fields.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "core/progress/number.h"

namespace muster::progress {
namespace {

enum class Field : std::uint8_t {
  loss,
  eval_loss,
  grad_norm,
  learning_rate,
  tokens_per_s,
  step_s,
  step_ms,
  mfu,
  other_rate,  // samples/s, FLOP/s: a sign of a training step, not stored
  other,       // seen on step lines, not stored
};

struct Key {
  std::string_view name;
  Field field;
};

// Sorted by name. Lower case; a label is looked up whole, then by its last part after a blank or
// '/'.
constexpr std::array<Key, 74> kKeys = {{
    {"acc", Field::other},
    {"accuracy", Field::other},
    {"consumed samples", Field::other},
    {"currsamplespersec", Field::other_rate},
    {"data", Field::other},
    {"dt", Field::step_s},
    {"elapsed", Field::step_s},
    {"elapsed time per iteration (ms)", Field::step_ms},
    {"elapsed time per iteration (s)", Field::step_s},
    {"epoch", Field::other},
    {"eval loss", Field::eval_loss},
    {"eval/loss", Field::eval_loss},
    {"eval_loss", Field::eval_loss},
    {"flops", Field::other_rate},
    {"global batch size", Field::other},
    {"grad norm", Field::grad_norm},
    {"grad_norm", Field::grad_norm},
    {"gradnorm", Field::grad_norm},
    {"iter_time", Field::step_s},
    {"iteration time", Field::step_s},
    {"learning rate", Field::learning_rate},
    {"learning_rate", Field::learning_rate},
    {"lm loss", Field::loss},
    {"lm loss value", Field::eval_loss},
    {"loss", Field::loss},
    {"loss scale", Field::other},
    {"lr", Field::learning_rate},
    {"memory", Field::other},
    {"mfu", Field::mfu},
    {"norm", Field::grad_norm},
    {"ppl", Field::other},
    {"runningavgsamplespersec", Field::other_rate},
    {"samples/s", Field::other_rate},
    {"samples/sec", Field::other_rate},
    {"samplespersec", Field::other_rate},
    {"skipped", Field::other},
    {"step time", Field::step_s},
    {"step_time", Field::step_s},
    {"step_time_ms", Field::step_ms},
    {"step_time_s", Field::step_s},
    {"test loss", Field::eval_loss},
    {"test_loss", Field::eval_loss},
    {"tflops", Field::other_rate},
    {"tgs", Field::tokens_per_s},
    {"throughput per gpu (tflop/s/gpu)", Field::other_rate},
    {"time", Field::step_s},
    {"tok/s", Field::tokens_per_s},
    {"tok/sec", Field::tokens_per_s},
    {"tok_per_s", Field::tokens_per_s},
    {"tokens per second", Field::tokens_per_s},
    {"tokens/s", Field::tokens_per_s},
    {"tokens/sec", Field::tokens_per_s},
    {"tokens/second", Field::tokens_per_s},
    {"tokens_per_s", Field::tokens_per_s},
    {"tokens_per_sec", Field::tokens_per_s},
    {"tokens_per_second", Field::tokens_per_s},
    {"tokens_per_second_per_gpu", Field::tokens_per_s},
    {"total loss", Field::loss},
    {"tps", Field::tokens_per_s},
    {"train loss", Field::loss},
    {"train/loss", Field::loss},
    {"train_loss", Field::loss},
    {"training loss", Field::loss},
    {"val loss", Field::eval_loss},
    {"val/loss", Field::eval_loss},
    {"val_loss", Field::eval_loss},
    {"val_per_token_loss", Field::eval_loss},
    {"valid loss", Field::eval_loss},
    {"valid_loss", Field::eval_loss},
    {"validation loss", Field::eval_loss},
    {"validation_loss", Field::eval_loss},
    {"words/s", Field::tokens_per_s},
    {"wps", Field::tokens_per_s},
    {"xent", Field::other},
}};
static_assert(std::is_sorted(kKeys.begin(), kKeys.end(),
                             [](const Key& a, const Key& b) { return a.name < b.name; }));

constexpr std::size_t kMaxLabel = 48;
constexpr std::size_t kMaxUnit = 16;

// First index into kKeys for each first letter, and the end.
constexpr std::array<std::uint8_t, 27> make_index() {
  std::array<std::uint8_t, 27> index{};
  std::size_t at = 0;
  for (std::size_t letter = 0; letter < index.size(); ++letter) {
    while (at < kKeys.size() &&
           kKeys[at].name[0] < static_cast<char>('a' + static_cast<int>(letter))) {
      ++at;
    }
    index[letter] = static_cast<std::uint8_t>(at);
  }
  return index;
}
constexpr std::array<std::uint8_t, 27> kIndex = make_index();

bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = a.size(); i-- > 0;) {  // names differ at the end sooner
    if (a[i] != b[i]) return false;
  }
  return true;
}

const Key* look_up(std::string_view name) {
  if (name.empty() || name[0] < 'a' || name[0] > 'z') return nullptr;
  const auto letter = static_cast<std::size_t>(name[0] - 'a');
  for (std::size_t i = kIndex[letter]; i < kIndex[letter + 1]; ++i) {
    if (same(kKeys[i].name, name)) return &kKeys[i];
  }
  return nullptr;
}

// What kinds of byte matter to the scan.
enum ByteKind : std::uint8_t {
  kPlain = 0,
  kNumberLead = 1,  // may begin a number
  kSeparator = 2,   // ends the label before it: "|,;{}"
  kAround = 4,      // no part of a label at its ends
};
constexpr std::array<std::uint8_t, 256> make_kinds() {
  std::array<std::uint8_t, 256> kinds{};
  for (const char c : std::string_view("0123456789.+-nNiI")) {
    kinds[static_cast<unsigned char>(c)] |= kNumberLead;
  }
  for (const char c : std::string_view("|,;{}")) kinds[static_cast<unsigned char>(c)] |= kSeparator;
  for (const char c : std::string_view(" \t:=[('\">~")) {
    kinds[static_cast<unsigned char>(c)] |= kAround;
  }
  return kinds;
}
constexpr std::array<std::uint8_t, 256> kKinds = make_kinds();
std::uint8_t kind(char c) {
  return kKinds[static_cast<unsigned char>(c)];
}

// True when text[i] and what follows end the label that stands behind: "|", two blanks, " - ", ":
// ".
bool is_label_start(std::string_view text, std::size_t i) {
  if ((kind(text[i]) & kSeparator) != 0) return true;
  if (text[i] != ' ') return false;
  if (i > 0 && (text[i - 1] == ' ' || text[i - 1] == ':')) return true;
  return i > 1 && text[i - 1] == '-' && text[i - 2] == ' ';
}

// The label in front of a number in lower case: what stands behind the last separator. One pass
// from the back: this is the hottest loop of a log's reading.
std::string_view label_of(std::string_view between, std::array<char, kMaxLabel>& buffer) {
  std::size_t end = between.size();
  while (end > 0 && (kind(between[end - 1]) & kAround) != 0) --end;
  std::size_t begin = end;
  std::size_t room = buffer.size();
  while (begin > 0 && room > 0 && !is_label_start(between, begin - 1)) {
    buffer[--room] = lower(between[--begin]);
  }
  std::string_view label(buffer.data() + room, buffer.size() - room);
  while (!label.empty() && (kind(label[0]) & kAround) != 0) label.remove_prefix(1);
  return label;
}

const Key* key_of(std::string_view label) {
  if (label.empty()) return nullptr;
  if (const Key* key = look_up(label)) return key;
  // "throughput/tokens_per_sec", "0.5 s tok/s": the last part, but never of another loss
  // ("aux loss", "z_loss") or another scale.
  const std::size_t blank = label.rfind(' ');
  if (blank == std::string_view::npos) return nullptr;
  const Key* key = look_up(label.substr(blank + 1));
  if (key == nullptr || key->field == Field::loss || key->field == Field::grad_norm ||
      key->field == Field::step_s) {
    return nullptr;
  }
  return key;
}

// A unit behind the number that says by itself what the number is: "52.8k tok/s", "4.95 s/it".
const Key* key_of_unit(std::string_view after, std::size_t& used) {
  static constexpr Key kSecondsPerStep{"s/it", Field::step_s};
  std::size_t i = after.starts_with(' ') ? 1 : 0;
  const std::size_t begin = i;
  while (i < after.size() && i - begin < kMaxUnit && (is_word(after[i]) || after[i] == '/')) ++i;
  std::array<char, kMaxUnit> buffer{};
  const std::string_view unit = after.substr(begin, i - begin);
  std::transform(unit.begin(), unit.end(), buffer.begin(), lower);
  const std::string_view name(buffer.data(), unit.size());
  used = i;
  if (name == "s/it" || name == "s/step" || name == "s/iter") return &kSecondsPerStep;
  if (name.find('/') == std::string_view::npos) return nullptr;
  const Key* key = look_up(name);
  return key != nullptr && key->field != Field::eval_loss && key->field != Field::loss ? key
                                                                                       : nullptr;
}

// "4950.00ms", "4.95s", "4.95 s" or a bare number of seconds.
double seconds_of(double value, std::string_view after, bool in_ms) {
  if (after.starts_with(' ')) after.remove_prefix(1);
  const bool ms = after.starts_with("ms") && (after.size() == 2 || !is_word(after[2]));
  return in_ms || ms ? value / 1e3 : value;
}

template <typename T>
void set_once(std::optional<T>& slot, T value) {
  if (!slot) slot = value;
}

void store(Field field, double value, std::string_view after, StepRecord& record,
           FieldCount& count) {
  switch (field) {
    case Field::loss:
      set_once(record.loss, value);
      break;
    case Field::eval_loss:
      count.eval = true;
      return;
    case Field::grad_norm:
      set_once(record.grad_norm, value);
      break;
    case Field::learning_rate:
      set_once(record.learning_rate, value);
      break;
    case Field::tokens_per_s:
      if (value >= 0 && std::isfinite(value)) set_once(record.tokens_per_s, value);
      break;
    case Field::step_s:
    case Field::step_ms: {
      const double seconds = seconds_of(value, after, field == Field::step_ms);
      if (seconds > 0 && seconds < 1e7) set_once(record.step_s, seconds);
      break;
    }
    case Field::mfu: {
      const bool percent = after.starts_with('%') || after.starts_with(" %") || value > 1;
      const double ratio = percent ? value / 100 : value;
      if (ratio >= 0 && ratio <= 1) set_once(record.mfu_ratio, ratio);
      break;
    }
    case Field::other_rate:
    case Field::other:
      break;
  }
  ++count.metrics;
  count.timed = count.timed || (field != Field::loss && field != Field::other);
}

bool number_starts(std::string_view text, std::size_t i) {
  const char c = text[i];
  if ((kind(c) & kNumberLead) == 0) return false;
  if (i > 0 && (is_word(text[i - 1]) || text[i - 1] == '.')) return false;
  if (is_digit(c)) return true;
  const char next = i + 1 < text.size() ? text[i + 1] : '\0';
  if (c == '.' || c == '-' || c == '+') return is_digit(next) || (c == '-' && lower(next) == 'i');
  return (lower(c) == 'n' && lower(next) == 'a') || (lower(c) == 'i' && lower(next) == 'n');
}

}  // namespace

FieldCount read_step_fields(std::string_view text, StepRecord& record) {
  FieldCount count;
  std::array<char, kMaxLabel> buffer;
  std::size_t label_from = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (!number_starts(text, i)) {
      ++i;
      continue;
    }
    std::string_view rest = text.substr(i);
    const auto value = take_number(rest);
    if (!value) {
      ++i;
      continue;
    }
    const std::string_view label = label_of(text.substr(label_from, i - label_from), buffer);
    const Key* key = key_of(label);
    i = text.size() - rest.size();
    if (key == nullptr && !rest.empty()) {
      std::size_t used = 0;
      key = key_of_unit(rest, used);
      if (key != nullptr) i += used;
    }
    if (key != nullptr) store(key->field, *value, rest, record, count);
    label_from = i;
  }
  return count;
}

}  // namespace muster::progress
