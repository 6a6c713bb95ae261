#include "core/progress/event_line.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/progress/number.h"

namespace muster::progress {
namespace {

// Meanings of words, one bit each; a line is the set of its words' meanings.
enum Meaning : std::uint64_t {
  kSaving = 1ull << 0,        // saving, writing
  kSaved = 1ull << 1,         // saved, wrote
  kSave = 1ull << 2,          // save, saves (noun or verb)
  kCheckpoint = 1ull << 3,    // checkpoint, ckpt, snapshot
  kState = 1ull << 4,         // model, weights, optimizer, state
  kStart = 1ull << 5,         // start, starting, begin, running
  kDone = 1ull << 6,          // done, finished, complete, took
  kEval = 1ull << 7,          // evaluation, validation
  kEvaluating = 1ull << 8,    // evaluating, validating
  kCompile = 1ull << 9,       // dynamo, inductor, compiling, autotune
  kCompileWord = 1ull << 10,  // compile, compiled
  kTorch = 1ull << 11,
  kWarm = 1ull << 12,   // warmup
  kLoad = 1ull << 13,   // loading, loaded
  kSetup = 1ull << 14,  // initializing, tokenizing, world_size
  kBuild = 1ull << 15,  // building, preparing, creating
  kData = 1ull << 16,   // index, dataset, tokenizer, dataloader
  kTraining = 1ull << 17,
  kEpoch = 1ull << 18,
  kResume = 1ull << 19,   // resuming, restored
  kRestart = 1ull << 20,  // restart, relaunch
  kFrom = 1ull << 21,
  kNot = 1ull << 22,         // not, no, never, cannot
  kSchedule = 1ull << 23,    // every, interval, strategy, enabled, disabled, skipping
  kMemory = 1ull << 24,      // memory, activation, gradient
  kRate = 1ull << 25,        // lr, learning, rate, scheduler
  kPrevious = 1ull << 26,    // previous, earlier
  kReturned = 1ull << 27,    // returned, respond
  kLimit = 1ull << 28,       // deadline, timeout, timed, unresponsive, stuck
  kProbe = 1ull << 29,       // health, probe, liveness, monitor
  kCollective = 1ull << 30,  // watchdog, nccl, collective
  kSignal = 1ull << 31,
  kFailed = 1ull << 32,
  kReached = 1ull << 33,
  kLast = 1ull << 34,  // max_steps, max_epochs
  kStepWord = 1ull << 35,
  kScratch = 1ull << 36,
  kRuntime = 1ull << 37,    // train_runtime
  kException = 1ull << 38,  // a word that ends in "Error" or "Exception"
  kErrorWord = 1ull << 39,  // error
  kKilled = 1ull << 40,
  kTraceback = 1ull << 41,
  kShards = 1ull << 42,
  kGroup = 1ull << 43,  // worker, group, process
  kEarlyStop = 1ull << 44,
  kValLoss = 1ull << 45,  // val_loss, eval_loss
  kOut = 1ull << 46,      // out (of "timed out")
  kFault = 1ull << 47,    // fault, core (dumped)
  kConfig = 1ull << 48,   // config, configuration
};

struct Word {
  std::string_view text;
  std::uint64_t meaning;
};

// Sorted; lower case.
constexpr std::array<Word, 166> kWords = {{
    {"activation", kMemory},
    {"aot_autograd", kCompile},
    {"autotune", kCompile},
    {"autotuning", kCompile},
    {"begin", kStart},
    {"beginning", kStart},
    {"begins", kStart},
    {"begun", kStart},
    {"build", kBuild},
    {"building", kBuild},
    {"built", kBuild},
    {"cannot", kNot},
    {"checkpoint", kCheckpoint},
    {"checkpoints", kCheckpoint},
    {"ckpt", kCheckpoint},
    {"ckpts", kCheckpoint},
    {"collective", kCollective},
    {"compile", kCompileWord},
    {"compile_fx", kCompile},
    {"compiled", kCompileWord},
    {"compiling", kCompile},
    {"complete", kDone},
    {"completed", kDone},
    {"config", kConfig},
    {"configuration", kConfig},
    {"core", kFault},
    {"creating", kBuild},
    {"dataloader", kData},
    {"dataset", kData},
    {"datasets", kData},
    {"dcgm", kProbe},
    {"deadline", kLimit},
    {"disabled", kSchedule},
    {"done", kDone},
    {"downloading", kSetup},
    {"dumped", kFault},
    {"dynamo", kCompile},
    {"earlier", kPrevious},
    {"earlystopping", kEarlyStop},
    {"enabled", kSchedule},
    {"end", kDone},
    {"ended", kDone},
    {"ends", kDone},
    {"epoch", kEpoch},
    {"error", kErrorWord},
    {"eval", kEval},
    {"eval_loss", kValLoss},
    {"evaluating", kEvaluating},
    {"evaluation", kEval},
    {"every", kSchedule},
    {"failed", kFailed},
    {"fault", kFault},
    {"finished", kDone},
    {"finishing", kDone},
    {"from", kFrom},
    {"gradient", kMemory},
    {"group", kGroup},
    {"health", kProbe},
    {"healthcheck", kProbe},
    {"hung", kLimit},
    {"index", kData},
    {"indices", kData},
    {"inductor", kCompile},
    {"initialising", kSetup},
    {"initialized", kSetup},
    {"initializing", kSetup},
    {"interval", kSchedule},
    {"killed", kKilled},
    {"launching", kSetup},
    {"learning", kRate},
    {"liveness", kProbe},
    {"loaded", kLoad},
    {"loading", kLoad},
    {"lr", kRate},
    {"max_epochs", kLast},
    {"max_steps", kLast},
    {"memory", kMemory},
    {"model", kState},
    {"monitor", kProbe},
    {"nccl", kCollective},
    {"never", kNot},
    {"no", kNot},
    {"not", kNot},
    {"nvml", kProbe},
    {"optimizer", kState},
    {"out", kOut},
    {"preparing", kBuild},
    {"previous", kPrevious},
    {"prior", kPrevious},
    {"probe", kProbe},
    {"process", kGroup},
    {"processgroupnccl", kCollective},
    {"rate", kRate},
    {"reached", kReached},
    {"readiness", kProbe},
    {"recompute", kMemory},
    {"relaunch", kRestart},
    {"relaunching", kRestart},
    {"respond", kReturned},
    {"responded", kReturned},
    {"responding", kReturned},
    {"restart", kRestart},
    {"restarted", kRestart},
    {"restarting", kRestart},
    {"restored", kResume},
    {"restoring", kResume},
    {"resume", kResume},
    {"resumed", kResume},
    {"resumes", kResume},
    {"resuming", kResume},
    {"return", kReturned},
    {"returned", kReturned},
    {"run", kStart},
    {"running", kStart},
    {"save", kSave},
    {"saved", kSaved},
    {"saves", kSave},
    {"saving", kSaving},
    {"scheduler", kRate},
    {"scratch", kScratch},
    {"segmentation", kFault},
    {"shards", kShards},
    {"signal", kSignal},
    {"skip", kSchedule},
    {"skipped", kSchedule},
    {"skipping", kSchedule},
    {"snapshot", kCheckpoint},
    {"start", kStart},
    {"started", kStart},
    {"starting", kStart},
    {"starts", kStart},
    {"state", kState},
    {"state_dict", kState},
    {"step", kStepWord},
    {"steps", kStepWord | kSchedule},
    {"strategy", kSchedule},
    {"stuck", kLimit},
    {"timed", kLimit},
    {"timeout", kLimit},
    {"tokenizer", kData},
    {"tokenizing", kSetup},
    {"took", kDone},
    {"torch", kTorch},
    {"torchdynamo", kCompile},
    {"torchinductor", kCompile},
    {"traceback", kTraceback},
    {"train_runtime", kRuntime},
    {"training", kTraining},
    {"unable", kNot},
    {"unresponsive", kLimit},
    {"val_loss", kValLoss},
    {"val_per_token_loss", kValLoss},
    {"validating", kEvaluating},
    {"validation", kEval},
    {"validation_loss", kValLoss},
    {"warming", kWarm},
    {"warmup", kWarm},
    {"watchdog", kCollective},
    {"weights", kState},
    {"without", kNot},
    {"worker", kGroup},
    {"workers", kGroup},
    {"world_size", kSetup},
    {"writing", kSaving},
    {"written", kSaved},
    {"wrote", kSaved},
}};
static_assert(std::is_sorted(kWords.begin(), kWords.end(),
                             [](const Word& a, const Word& b) { return a.text < b.text; }));

constexpr std::size_t kLongestWord = 18;
// Words beyond this are the tail of a long line (a printed tensor, a configuration).
constexpr std::size_t kReach = 1024;

// First index into kWords for each first letter, and the end.
constexpr std::array<std::uint8_t, 27> make_index() {
  std::array<std::uint8_t, 27> index{};
  std::size_t at = 0;
  for (std::size_t letter = 0; letter < 27; ++letter) {
    while (at < kWords.size() &&
           kWords[at].text[0] < static_cast<char>('a' + static_cast<int>(letter))) {
      ++at;
    }
    index[letter] = static_cast<std::uint8_t>(at);
  }
  return index;
}
static_assert(kWords.size() < 256);
static_assert(std::all_of(kWords.begin(), kWords.end(),
                          [](const Word& word) { return word.text.size() <= kLongestWord; }));
constexpr std::array<std::uint8_t, 27> kIndex = make_index();

// For each first letter the lengths of its words, one bit each: most words of a log are none of
// ours, and this tells without comparing.
constexpr std::array<std::uint32_t, 26> make_sizes() {
  std::array<std::uint32_t, 26> sizes{};
  for (const Word& word : kWords) {
    sizes[static_cast<std::size_t>(word.text[0] - 'a')] |= std::uint32_t{1} << word.text.size();
  }
  return sizes;
}
constexpr std::array<std::uint32_t, 26> kSizes = make_sizes();

struct Company {
  std::uint64_t all = 0;    // every meaning of the line
  std::uint64_t first = 0;  // of the first word
};

// A setting, not a message: "save=500", "resume: false", "compile: 1".
bool is_setting(std::string_view after) {
  if (after.starts_with('=')) return true;
  if (!after.starts_with(": ")) return false;
  after.remove_prefix(2);
  for (const std::string_view value : {"true", "false", "none", "null", "True", "False", "None"}) {
    if (after.starts_with(value)) return true;
  }
  return false;
}

std::uint64_t meaning_of(std::string_view word, std::string_view after) {
  while (word.starts_with('_')) word.remove_prefix(1);
  if (word.empty()) return 0;
  const std::size_t full = word.size();
  if (full > 6 && (word.back() == 'r' || word.back() == 'n') &&
      (word.ends_with("Error") || word.ends_with("Exception"))) {
    const bool end = after.empty() || after[0] == ':' || after[0] == ' ' || after[0] == '(';
    return end ? std::uint64_t{kException} : 0;
  }
  const auto letter = static_cast<std::size_t>(lower(word[0]) - 'a');
  if (full > kLongestWord || letter >= kSizes.size() || (kSizes[letter] >> full & 1) == 0) return 0;
  std::array<char, kLongestWord> buffer;
  std::transform(word.begin(), word.end(), buffer.begin(), lower);
  const std::string_view text(buffer.data(), full);
  for (std::size_t i = kIndex[letter]; i < kIndex[letter + 1]; ++i) {
    const std::string_view known = kWords[i].text;
    // Words of one letter and length differ at their end sooner than memcmp is called.
    if (known.size() == full && known.back() == text.back() && known == text) {
      return kWords[i].meaning;
    }
  }
  return 0;
}

// Meanings that a setting must not have: its key is a word of ours, its line is no message.
constexpr std::uint64_t kNotOfSettings = ~std::uint64_t{kSetup | kRuntime | kValLoss | kLast};

Company read_words(std::string_view body) {
  Company company;
  body = body.substr(0, kReach);
  bool first = true;
  for (std::size_t i = 0; i < body.size();) {
    if (!is_word(body[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < body.size() && is_word(body[i])) ++i;
    // Parts of a path or of an option say nothing ("/data/saved/model", "--save-steps").
    if (begin > 0 && (body[begin - 1] == '/' || body[begin - 1] == '-')) continue;
    const std::string_view after = body.substr(i);
    std::uint64_t meaning = meaning_of(body.substr(begin, i - begin), after);
    if (meaning != 0 && is_setting(after)) meaning &= ~kNotOfSettings;
    company.all |= meaning;
    if (first) company.first = meaning;
    first = false;
  }
  return company;
}

bool has(std::uint64_t all, std::uint64_t any) {
  return (all & any) != 0;
}

// An exception, a signal, a watchdog: the process is going down, or a collective never came back.
bool is_error(std::uint64_t w, std::string_view body) {
  if (has(w, kTraceback | kException)) return true;
  if (has(w, kCollective) && has(w, kLimit)) return true;
  if (has(w, kSignal) &&
      (has(w, kKilled | kDone) || body.find("death signal") != body.npos ||
       body.find("got signal") != body.npos || body.find("with signal") != body.npos)) {
    return true;
  }
  if (has(w, kFault) &&
      (body.find("egmentation fault") != body.npos || body.find("core dumped") != body.npos)) {
    return true;
  }
  if (has(w, kFailed) && has(w, kGroup) && body.find("exit") != body.npos) return true;
  if (!has(w, kErrorWord)) return false;
  for (const std::string_view mark : {"error: ", "ERROR: ", "Error: "}) {
    const std::size_t at = body.find(mark);
    if (at == std::string_view::npos) continue;
    const std::size_t next = at + mark.size();  // "error: 0.12" is a value
    if (next < body.size() && !is_digit(body[next]) && body[next] != '-') return true;
  }
  return body.find("CUDA error") != body.npos;
}

// A monitor's own reader or probe did not come back in time.
bool is_monitor_stuck(std::uint64_t w, std::string_view body) {
  if (has(w, kCollective) || has(w, kTraining)) return false;
  const bool late = has(w, kReturned) && has(w, kNot);
  if (late && (has(w, kLimit) || find_duration(body, WhichDuration::first))) return true;
  if (!has(w, kProbe)) return false;
  return has(w, kLimit) || (has(w, kFailed) && body.find("liveness") != body.npos);
}

// The number of a shard other than the last in "model-00007-of-00030": the save goes on.
bool is_inner_shard(std::string_view body) {
  const std::size_t of = body.find("-of-");
  if (of == std::string_view::npos) return false;
  std::size_t begin = of;
  while (begin > 0 && is_digit(body[begin - 1])) --begin;
  std::size_t end = of + 4;
  while (end < body.size() && is_digit(body[end])) ++end;
  const std::string_view part = body.substr(begin, of - begin);
  return !part.empty() && part != body.substr(of + 4, end - of - 4);
}

std::optional<ProgressKind> read_save(std::uint64_t w, std::string_view body) {
  const bool verb = has(w, kSaving | kSaved | kSave);
  if (!verb && !has(w, kCheckpoint)) return std::nullopt;
  if (has(w, kNot | kSchedule | kMemory | kFailed | kLoad | kResume | kRestart)) {
    return std::nullopt;
  }
  if (has(w, kPrevious) && (has(w, kSave) || has(w, kCheckpoint)) &&
      find_duration(body, WhichDuration::first)) {
    return ProgressKind::save_known;
  }
  const bool thing = has(w, kCheckpoint | kState);
  if (is_inner_shard(body)) return std::nullopt;
  if (has(w, kDone) && (verb || has(w, kCheckpoint))) {
    return thing || has(w, kSave) ? std::optional(ProgressKind::save_end) : std::nullopt;
  }
  if (has(w, kSaved) && thing && !has(w, kConfig)) return ProgressKind::save_end;
  if (has(w, kSaving) && thing) return ProgressKind::save_begin;
  const bool starts = has(w, kStart) && !has(w, kFrom);
  if (starts && (has(w, kSave) || has(w, kCheckpoint))) return ProgressKind::save_begin;
  if (has(w, kSave) && has(w, kCheckpoint) && body.find("schedul") != body.npos) {
    return ProgressKind::save_begin;  // asynchronous
  }
  return std::nullopt;
}

// A "6,215/14,900" is in the line.
bool counts_up(std::string_view body) {
  for (std::size_t slash = body.find('/'); slash != std::string_view::npos;
       slash = body.find('/', slash + 1)) {
    if (slash > 0 && is_digit(body[slash - 1]) && slash + 1 < body.size() &&
        is_digit(body[slash + 1])) {
      return true;
    }
  }
  return false;
}

std::optional<ProgressKind> read_eval(std::uint64_t w, std::uint64_t first, std::string_view body) {
  if (has(w, kValLoss)) return ProgressKind::eval_end;
  if (!has(w, kEval | kEvaluating) || has(w, kNot | kSchedule | kFailed | kLoad | kBuild)) {
    return std::nullopt;
  }
  if (has(w, kStart) || has(w, kEvaluating)) return ProgressKind::eval_begin;
  if (has(w, kDone)) return ProgressKind::eval_end;
  // "eval 6,215/14,900": under way.
  const bool under_way = has(first, kEval) && counts_up(body);
  return under_way ? std::optional(ProgressKind::eval_begin) : std::nullopt;
}

bool is_compile(std::uint64_t w) {
  if (has(w, kCompile)) return true;
  if (has(w, kCompileWord)) return has(w, kTorch | kState) && !has(w, kNot | kSchedule);
  return has(w, kWarm) && !has(w, kRate | kSchedule | kStepWord);
}

std::optional<ProgressKind> read_end(std::uint64_t w, std::string_view body) {
  if (has(w, kRuntime)) return ProgressKind::finished;
  if (has(w, kNot)) return std::nullopt;
  if (has(w, kLast) && has(w, kReached)) return ProgressKind::finished;
  if (has(w, kEpoch) && has(w, kDone)) return ProgressKind::epoch_end;
  if (has(w, kTraining) && has(w, kDone) && !has(w, kStepWord | kStart)) {
    return ProgressKind::finished;
  }
  const bool alone = body == "done" || body == "Done" || body == "DONE" || body == "done." ||
                     body == "Done." || body == "Done!" || body == "done!";
  return alone ? std::optional(ProgressKind::finished) : std::nullopt;
}

bool is_restart(std::uint64_t w) {
  if (has(w, kScratch) || (has(w, kNot) && !has(w, kRestart))) return false;
  if (has(w, kResume)) return has(w, kFrom | kCheckpoint | kStepWord | kTraining);
  if (has(w, kRestart)) return !has(w, kProbe);
  return has(w, kLoad) && has(w, kCheckpoint) && has(w, kFrom) && !has(w, kShards);
}

bool is_startup(std::uint64_t w) {
  if (has(w, kLoad | kSetup)) return true;
  if (has(w, kBuild) && has(w, kData | kState)) return true;
  return has(w, kStart) && has(w, kTraining);
}

}  // namespace

std::optional<ProgressKind> classify_event(std::string_view body) {
  const Company words = read_words(body);
  const std::uint64_t w = words.all;
  if (w == 0) return std::nullopt;
  if (is_monitor_stuck(w, body)) return ProgressKind::monitor_stuck;
  if (is_error(w, body)) return ProgressKind::error;
  if (const auto save = read_save(w, body)) return save;
  if (const auto eval = read_eval(w, words.first, body)) return eval;
  if (is_restart(w)) return ProgressKind::restarted;
  if (const auto end = read_end(w, body)) return end;
  if (is_compile(w)) return ProgressKind::compile;
  if (is_startup(w)) return ProgressKind::startup;
  return std::nullopt;
}

std::optional<KnownSave> take_known_save(std::string_view& text) {
  KnownSave save;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_digit(text[i]) || (i > 0 && (is_word(text[i - 1]) || text[i - 1] == '.'))) {
      ++i;
      continue;
    }
    std::string_view rest = text.substr(i);
    if (const auto duration = take_duration(rest)) {
      save.duration = *duration;
      text = rest;
      return save;
    }
    const std::string_view before = text.substr(0, i);
    const std::size_t name = before.find_last_not_of(" :=#");
    const bool step = name != std::string_view::npos && name >= 3 &&
                      (before.substr(0, name + 1).ends_with("step") ||
                       before.substr(0, name + 1).ends_with("iteration"));
    const auto count = take_count(rest);
    if (step && count) save.step = *count;
    if (count) {
      i = text.size() - rest.size();
    } else {
      while (i < text.size() && (is_word(text[i]) || text[i] == '.')) ++i;
    }
  }
  text = {};
  return std::nullopt;
}

}  // namespace muster::progress
