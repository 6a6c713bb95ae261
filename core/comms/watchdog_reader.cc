#include "core/comms/watchdog_reader.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/colours.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "core/comms/failure_text.h"
#include "core/comms/log_envelope.h"
#include "core/comms/scan.h"
#include "core/comms/traceback.h"

namespace muster {
namespace {

using namespace comms;

// Releases before 2.6 print numbers of memory that was never set.
constexpr std::int64_t kMaxSequence = 1'000'000'000'000;

std::optional<std::int64_t> sequence_behind(std::string_view text, std::string_view mark) {
  const auto value = int_behind(text, mark);
  return value && *value >= -1 && *value <= kMaxSequence ? value : std::nullopt;
}

// "OpType=ALLREDUCE," -> "ALLREDUCE"; any word is allowed, the list of them grows.
std::string operation(std::string_view text) {
  auto rest = behind(text, "OpType=");
  if (!rest) return "";
  std::size_t end = 0;
  while (end < rest->size() && end < 64 &&
         (is_letter((*rest)[end]) || is_digit((*rest)[end]) || (*rest)[end] == '_')) {
    ++end;
  }
  return std::string(rest->substr(0, end));
}

// What the launchers' prefix says: a task of srun, a local rank of torchrun; -1: not there.
struct Label {
  std::int32_t task = -1, local = -1;
  auto operator<=>(const Label&) const = default;
};

Label label_of(const LogEnvelope& e) {
  return {e.task.value_or(-1), e.local.value_or(-1)};
}

// Who wrote a line: keeps the tracebacks of several writers apart.
using Writer = std::tuple<std::int32_t, Label, std::int64_t, std::string>;

Writer writer_of(const LogEnvelope& e) {
  return {e.rank.value_or(-1), label_of(e), e.pid.value_or(-1), e.host};
}

// Fields of one block of torchelastic's summary.
struct ExitBlock {
  std::string host = {};
  std::optional<std::int32_t> rank = std::nullopt;
  std::optional<WallTime> at = std::nullopt;
  bool root = false;
};

}  // namespace

struct WatchdogReader::State {
  explicit State(Options o) : options(std::move(o)) {}

  struct Line {
    LogEnvelope envelope;
    std::string_view text;  // whole
    std::uint64_t number = 0;
  };
  struct Unplaced {
    std::size_t at;  // in reading.witnesses
    Label label;
  };
  using Shape = bool (State::*)(const Line&);

  RankWitness make(WitnessKind kind, const Line& line) const;
  void give(RankWitness value, const Line& line);
  // `label`: nothing where the line is of a monitor, and only host and process tell whose it is.
  void add(LogWitness witness, std::optional<Label> label);
  void note(const Line& line);
  void judge(const FailureMeaning& meaning, const Line& line, std::string text);
  void close(const Writer& writer);
  void close_all();
  void learn(const LogEnvelope& envelope);
  void add_process(RankProcess process);
  void place(Unplaced& waiting);
  bool feed_traceback(const Line& line);
  void read(std::string_view text, std::uint64_t number, const std::vector<int>& hits);

  bool traceback(const Line& line);
  bool work_timeout(const Line& line);
  bool last_works(const Line& line);
  bool dump_signal(const Line& line);
  bool heartbeat(const Line& line);
  bool gil(const Line& line);
  bool left(const Line& line);
  bool async_exception(const Line& line);
  bool watchdog_died(const Line& line);
  bool desync(const Line& line);
  bool fingerprint(const Line& line);
  bool job_note(const Line& line);
  bool nccl_warning(const Line& line);
  bool nccl_init(const Line& line);
  bool bare_exception(const Line& line);
  bool kernel_oom(const Line& line);
  bool xid(const Line& line);
  void end_of_process(const Line& line, int signal, bool only_exit);
  bool fatal_python(const Line& line);
  bool terminated(const Line& line);
  bool exit_field(const Line& line);
  bool task_exit(const Line& line);
  bool prefix_only(const Line&) { return true; }

  static const std::vector<std::pair<const char*, Shape>>& shapes();
  static const re2::RE2::Set& anchors();

  Options options;
  LogReading reading;
  std::vector<Unplaced> unplaced;
  std::map<Label, std::set<std::int32_t>> seen;  // ranks that wrote under a label
  std::set<std::int32_t> ranks;                  // of tags
  std::map<std::string, std::size_t> counts;     // of a writer and kind
  std::set<std::string> told;
  struct Open {
    Traceback traceback;
    std::optional<WallTime> at;
    Label label;
    LogEnvelope envelope;
  };
  std::map<Writer, Open> open;
  std::map<Writer, ExitBlock> blocks;
  std::map<Writer, bool> in_default_group;  // of the writer's last group tag
  std::set<std::tuple<std::int64_t, std::int32_t, std::int64_t, std::string>> processes;
  std::uint64_t news = 0;
  bool a_task_failed = false;
  bool flight_off = false;
};

// ---- anchors -----------------------------------------------------------------------------------

// In the order in which they are tried; the first that takes the line ends it.
const std::vector<std::pair<const char*, WatchdogReader::State::Shape>>&
WatchdogReader::State::shapes() {
  static const std::vector<std::pair<const char*, Shape>> kShapes = {
      {"Traceback \\(most recent call last\\)", &State::traceback},
      {"Detected mismatch between collectives on ranks", &State::fingerprint},
      {"Watchdog caught collective operation timeout", &State::work_timeout},
      {"timed out in blocking wait", &State::work_timeout},
      {"Received a dump signal due to a collective timeout", &State::dump_signal},
      {"Observed flight recorder dump signal from another rank", &State::dump_signal},
      {"[lL]ast enqueued (NCCL )?work:", &State::last_works},
      {"watchdog got stuck for", &State::heartbeat},
      {"Heartbeat monitor timed out!", &State::heartbeat},
      {"Could not acquire GIL within", &State::gil},
      {"destroy_process_group\\(\\) was not called before program exit", &State::left},
      {"process group has NOT been destroyed", &State::left},
      {"Watchdog joined, destroying NCCL communicators", &State::left},
      {"raised the following async exception", &State::async_exception},
      {"watchdog thread terminated with exception", &State::watchdog_died},
      {"but didn't join collective", &State::desync},
      {"FlightRecorder is disabled", &State::job_note},
      {"remote error detected from rank", &State::job_note},
      {"Forward order differs", &State::job_note},
      {"monitoredBarrier", &State::job_note},
      {"clients joined", &State::job_note},
      {" NCCL WARN ", &State::nccl_warning},
      {"ncclCommInitRank", &State::nccl_init},
      {"CUDA out of memory", &State::bare_exception},
      {"CUDA error: ", &State::bare_exception},
      {"Killed process [0-9]", &State::kernel_oom},
      {"NVRM: Xid \\(", &State::xid},
      {"Fatal Python error: ", &State::fatal_python},
      {"terminate called after throwing", &State::terminated},
      {"Root Cause \\(first observed failure\\)", &State::exit_field},
      {"(time|host|rank|exitcode)  +: ", &State::exit_field},
      {": task [0-9]+: (Killed|Exited|Out Of Memory|Segmentation|Bus|Aborted)", &State::task_exit},
      // Everything else of c10d: its prefix alone says which rank writes under which label.
      {"ProcessGroupNCCL.cpp:", &State::prefix_only},
  };
  return kShapes;
}

const re2::RE2::Set& WatchdogReader::State::anchors() {
  static const auto kSet = [] {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_encoding(re2::RE2::Options::EncodingLatin1);
    auto set = std::make_unique<re2::RE2::Set>(options, re2::RE2::UNANCHORED);
    for (const auto& [pattern, shape] : shapes()) {
      MUSTER_CHECK(set->Add(pattern, nullptr) >= 0, "a pattern of ours compiles");
    }
    MUSTER_CHECK(set->Compile(), "the patterns of ours fit in memory");
    return set;
  }();
  return *kSet;
}

// ---- giving ------------------------------------------------------------------------------------

RankWitness WatchdogReader::State::make(WitnessKind kind, const Line& line) const {
  RankWitness value;
  value.kind = kind;
  value.group = line.envelope.group;
  value.at = line.envelope.at;
  value.at_has_zone = line.envelope.at_has_zone;
  if (!value.at) value.clock = line.envelope.clock;
  value.source = options.source;
  value.line = line.number;
  value.text = std::string(whole_characters(trim(line.text), limits::kEvidenceChars));
  return value;
}

void WatchdogReader::State::give(RankWitness value, const Line& line) {
  const LogEnvelope& e = line.envelope;
  LogWitness witness{.value = std::move(value), .host = e.host, .pid = e.pid};
  if (e.rank || (e.default_group && e.in_group)) {
    witness.value.rank = e.rank ? *e.rank : *e.in_group;
    witness.placed = true;
  }
  add(std::move(witness), label_of(e));
}

void WatchdogReader::State::add(LogWitness witness, std::optional<Label> label) {
  if (reading.witnesses.size() >= limits::kWitnesses) return;
  const RankWitness& value = witness.value;
  const Label shown = label.value_or(Label{});
  const std::string who =
      fmt::format("{} {} {} {} {}", witness.placed ? value.rank : -1, shown.task, shown.local,
                  witness.pid.value_or(-1), witness.host);
  // The watchdog says the same again when it ends the process.
  const std::string what = fmt::format("{} {} {} {} {} {} {}", who, static_cast<int>(value.kind),
                                       value.group.value_or(""), value.op, value.seq.value_or(-2),
                                       value.enqueued.value_or(-2), value.completed.value_or(-2));
  const bool numbers = value.seq || value.enqueued;
  std::size_t& count = counts[fmt::format("{} {}", who, static_cast<int>(value.kind))];
  if (count >= limits::kWitnessesOfRank) return;
  if (numbers && !told.insert(what).second) return;
  ++count;
  ++news;
  if (!witness.placed && label) unplaced.push_back({reading.witnesses.size(), *label});
  reading.witnesses.push_back(std::move(witness));
}

void WatchdogReader::State::note(const Line& line) {
  if (reading.notes.size() >= limits::kNotesOfLog) return;
  ++news;
  reading.notes.push_back(fmt::format("{}:{}: {}", options.source, line.number,
                                      whole_characters(trim(line.envelope.message), 240)));
}

void WatchdogReader::State::judge(const FailureMeaning& meaning, const Line& line,
                                  std::string text) {
  using What = FailureMeaning::What;
  if (meaning.what == What::consequence) return;
  if (meaning.what == What::note) return note(line);
  RankWitness value = make(meaning.kind, line);
  value.code = meaning.code;
  value.text = std::move(text);
  if (meaning.kind == WitnessKind::collective_timeout) {
    value.seq = sequence_behind(line.text, "SeqNum=");
    value.op = operation(line.text);
  }
  give(std::move(value), line);
}

// ---- the watchdog and its heartbeat
// --------------------------------------------------------------

bool WatchdogReader::State::work_timeout(const Line& line) {
  RankWitness value = make(WitnessKind::collective_timeout, line);
  value.seq = sequence_behind(line.text, "SeqNum=");
  value.op = operation(line.text);
  give(std::move(value), line);
  return true;
}

bool WatchdogReader::State::last_works(const Line& line) {
  RankWitness value = make(WitnessKind::last_enqueued, line);
  for (const std::string_view mark :
       {"Timeout at NCCL work:", "detected by watchdog at work:", "at work sequence id:"}) {
    if (!value.seq) value.seq = sequence_behind(line.text, mark);
  }
  for (const std::string_view mark : {"ast enqueued NCCL work:", "ast enqueued work:",
                                      "ast completed NCCL work:", "ast completed work:"}) {
    auto& field = mark.starts_with("ast enqueued") ? value.enqueued : value.completed;
    if (!field) field = sequence_behind(line.text, mark);
  }
  if (value.seq || value.enqueued || value.completed) give(std::move(value), line);
  return true;
}

// The rank that called is the first to complain, not the first to fail; this rank has heard of it.
bool WatchdogReader::State::dump_signal(const Line& line) {
  const bool own = line.text.find("from this local rank") != std::string_view::npos;
  RankWitness value = make(own ? WitnessKind::last_enqueued : WitnessKind::dump_signal, line);
  value.enqueued = sequence_behind(line.text, "ast enqueued NCCL work:");
  value.completed = sequence_behind(line.text, "ast completed NCCL work:");
  if (!own || value.enqueued) give(std::move(value), line);
  return true;
}

bool WatchdogReader::State::heartbeat(const Line& line) {
  RankWitness value = make(WitnessKind::watchdog_stuck, line);
  value.pending = sequence_behind(line.text, "workMetaList_.size()=");
  give(std::move(value), line);
  return true;
}

bool WatchdogReader::State::gil(const Line& line) {
  give(make(WitnessKind::gil_held, line), line);
  return true;
}

bool WatchdogReader::State::left(const Line& line) {
  give(make(WitnessKind::left_script, line), line);
  return true;
}

bool WatchdogReader::State::async_exception(const Line& line) {
  const auto text = behind(line.text, "raised the following async exception:");
  if (!text) return true;
  FailureMeaning meaning = meaning_of_exception(trim(*text));
  // NCCL says nothing else than that the communicator broke.
  if (meaning.kind == WitnessKind::exception && meaning.what == FailureMeaning::What::witness) {
    meaning.kind = WitnessKind::network_error;
  }
  if (meaning.what != FailureMeaning::What::witness) return true;
  RankWitness value = make(meaning.kind, line);
  value.seq = sequence_behind(line.text, "SeqNum=");
  value.op = operation(line.text);
  give(std::move(value), line);
  return true;
}

bool WatchdogReader::State::watchdog_died(const Line& line) {
  const auto text = behind(line.text, "terminated with exception:");
  if (!text) return true;
  const FailureMeaning meaning = meaning_of_exception(trim(*text));
  // A cause that nobody knows is no exception of the application.
  if (meaning.kind == WitnessKind::exception) return true;
  judge(meaning, line, std::string(whole_characters(trim(line.text), limits::kEvidenceChars)));
  return true;
}

// "[1, 3] finished collective #3, but didn't join collective #4": ranks inside the group.
bool WatchdogReader::State::desync(const Line& line) {
  const auto known = in_default_group.find(writer_of(line.envelope));
  const bool global =
      line.envelope.default_group || (known != in_default_group.end() && known->second);
  std::string_view text = line.text;
  const auto finished = int_behind(text, "finished collective #");
  const std::size_t end = text.find("] finished collective");
  const std::size_t begin = text.substr(0, end).rfind('[');
  if (!global || !finished || end == std::string_view::npos || begin == std::string_view::npos) {
    note(line);
    return true;
  }
  std::size_t given = 0;
  for (std::string_view piece : split(text.substr(begin + 1, end - begin - 1), ',')) {
    piece = trim(piece);
    const auto rank = take_rank(piece);
    if (!rank || !piece.empty() || ++given > 64) continue;
    LogWitness witness{.value = make(WitnessKind::last_enqueued, line), .placed = true};
    witness.value.rank = *rank;
    witness.value.group = "default_pg";
    witness.value.enqueued = finished;
    witness.value.completed = finished;
    add(std::move(witness), Label{});
  }
  return true;
}

// Both ranks' calls stand in the line, by their numbers inside the group; only the writer's own,
// the first, is sure.
bool WatchdogReader::State::fingerprint(const Line& line) {
  note(line);
  const auto own = behind(line.text, "CollectiveFingerPrint(");
  if (!own) return true;
  const std::string_view call = own->substr(0, own->find("CollectiveFingerPrint("));
  RankWitness value = make(WitnessKind::last_enqueued, line);
  value.seq = sequence_behind(call, "SequenceNumber=");
  value.enqueued = value.seq;
  value.op = operation(call);
  if (value.seq || !value.op.empty()) give(std::move(value), line);
  return true;
}

bool WatchdogReader::State::job_note(const Line& line) {
  const bool off = line.text.find("FlightRecorder is disabled") != std::string_view::npos;
  if (off && std::exchange(flight_off, true)) return true;  // one rank speaks for all
  note(line);
  return true;
}

// ---- NCCL, CUDA, the kernel
// ------------------------------------------------------------------------

bool WatchdogReader::State::nccl_warning(const Line& line) {
  if (!line.envelope.nccl_warn) return false;
  judge(meaning_of_nccl_warning(line.envelope.message), line,
        std::string(whole_characters(trim(line.text), limits::kEvidenceChars)));
  return true;
}

// "ncclCommInitRank comm 0x55f0c8 rank 0 nranks 16 cudaDev 0 ...": a rank of the job where no
// communicator of the process is larger.
bool WatchdogReader::State::nccl_init(const Line& line) {
  const auto rank = int_behind(line.envelope.message, " rank ");
  const auto of = int_behind(line.envelope.message, " nranks ");
  if (!rank || !of || !line.envelope.pid || *rank < 0 || *rank >= *of || *of > (1 << 24)) {
    return true;
  }
  add_process({line.envelope.host, *line.envelope.pid, static_cast<std::int32_t>(*rank), *of});
  return true;
}

// Outside a traceback only what is printed like an exception: a trainer that catches one and goes
// on speaks of it in its own words.
bool WatchdogReader::State::bare_exception(const Line& line) {
  const std::string_view text = line.envelope.message;
  const std::size_t colon = text.find(": ");
  const std::string_view name = text.substr(0, colon);
  const bool printed = colon != std::string_view::npos && name.ends_with("Error") &&
                       name.find(' ') == std::string_view::npos;
  const bool thrown = trim(text).starts_with("what():");
  if (!printed && !thrown) return false;
  const FailureMeaning meaning = meaning_of_exception(text);
  if (meaning.kind == WitnessKind::exception) return true;
  judge(meaning, line, std::string(whole_characters(trim(text), limits::kEvidenceChars)));
  return true;
}

bool WatchdogReader::State::kernel_oom(const Line& line) {
  if (line.text.find("ut of memory") == std::string_view::npos) return false;
  const auto pid = int_behind(line.text, "Killed process");
  if (!pid || *pid <= 0) return true;
  LogWitness witness{
      .value = make(WitnessKind::host_oom_killed, line), .host = line.envelope.host, .pid = pid};
  witness.value.code = SIGKILL;
  add(std::move(witness), std::nullopt);
  return true;
}

bool WatchdogReader::State::xid(const Line& line) {
  // Hardware that has to be looked at; 13 and 31 are mostly software; the rest are consequences.
  constexpr std::array<std::int64_t, 10> kLost = {48, 64, 74, 79, 94, 95, 119, 120, 140, 143};
  constexpr std::array<std::int64_t, 2> kSoftware = {13, 31};
  const auto code = int_behind(line.text, "): ");
  if (!code) return true;
  const bool lost = std::find(kLost.begin(), kLost.end(), *code) != kLost.end();
  const bool software = std::find(kSoftware.begin(), kSoftware.end(), *code) != kSoftware.end();
  if (!lost && !software) return true;
  LogWitness witness{.value = make(lost ? WitnessKind::gpu_lost : WitnessKind::cuda_error, line),
                     .host = line.envelope.host,
                     .pid = int_behind(line.text, "pid=")};
  witness.value.code = static_cast<int>(*code);
  add(std::move(witness), std::nullopt);
  return true;
}

// ---- the end of processes
// ------------------------------------------------------------------------

void WatchdogReader::State::end_of_process(const Line& line, int signal, bool only_exit) {
  RankWitness value = make(WitnessKind::crashed, line);
  value.code = signal;
  LogWitness witness{.value = std::move(value),
                     .placed = line.envelope.rank.has_value(),
                     .only_exit = only_exit,
                     .host = line.envelope.host,
                     .pid = line.envelope.pid};
  if (line.envelope.rank) witness.value.rank = *line.envelope.rank;
  add(std::move(witness), label_of(line.envelope));
}

bool WatchdogReader::State::fatal_python(const Line& line) {
  const auto text = behind(line.text, "Fatal Python error: ");
  const bool memory = text && text->starts_with("Segmentation fault");
  const bool bus = text && text->starts_with("Bus error");
  end_of_process(line, memory ? SIGSEGV : bus ? SIGBUS : SIGABRT, !memory && !bus);
  return true;
}

// The process ends by an exception of its C++. PyTorch's own is how a watchdog ends one that
// waited.
bool WatchdogReader::State::terminated(const Line& line) {
  if (line.text.find("c10::") == std::string_view::npos) end_of_process(line, SIGABRT, true);
  return true;
}

// One field of torchelastic's summary. The agent ends the other ranks once one has failed, so that
// outside "Root Cause" only a crash of the process itself is news.
bool WatchdogReader::State::exit_field(const Line& line) {
  ++news;
  const Writer writer = writer_of(line.envelope);
  std::string_view text = line.envelope.message;
  skip_blanks(text);
  if (text.find("Root Cause") != std::string_view::npos) {
    if (blocks.size() < limits::kOpenTracebacks) blocks[writer] = {.root = true};
    return true;
  }
  const auto name = take_until(text, ":");
  const std::string_view field = name ? trim(*name) : std::string_view();
  text = trim(text);
  const auto found = blocks.find(writer);
  if (field == "time") {
    std::string stamp(text);
    std::replace(stamp.begin(), stamp.end(), '_', ' ');
    const auto at = parse_timestamp(stamp);
    if (!at || blocks.size() >= limits::kOpenTracebacks) return false;
    blocks[writer].at = at->at;
    return true;
  }
  if (found == blocks.end() || !found->second.at) return false;
  ExitBlock& block = found->second;
  if (field == "host") block.host = std::string(text.substr(0, 256));
  if (field == "rank") block.rank = take_rank(text);
  if (field != "exitcode") return true;
  const auto code = take_int(text);
  const auto pid = int_behind(text, "pid:");
  if (block.rank && code && *code >= -64 && *code <= 255 && *code != 0) {
    if (pid) add_process({block.host, *pid, *block.rank, 0});
    const int signal = static_cast<int>(*code < 0 ? -*code : 0);
    const FailureMeaning meaning = meaning_of_signal(signal);
    const bool own = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
    LogWitness witness{.value = make(signal != 0 ? meaning.kind : WitnessKind::exception, line),
                       .placed = true,
                       .only_exit = signal == 0 || signal == SIGABRT,
                       .host = block.host,
                       .pid = pid};
    witness.value.rank = *block.rank;
    witness.value.at = block.at;
    witness.value.at_has_zone = false;
    witness.value.code = signal != 0 ? signal : static_cast<int>(*code);
    if (block.root || own) add(std::move(witness), Label{});
  }
  blocks.erase(found);
  return true;
}

// "srun: error: n3: task 11: Killed". Once one task has failed, srun ends the others.
bool WatchdogReader::State::task_exit(const Line& line) {
  ++news;
  std::string_view text = line.text;
  const std::size_t mark = text.find(": task ");
  std::string_view host = text.substr(0, mark);
  host = trim(host.substr(host.find_last_of(" :") + 1));
  text.remove_prefix(mark + 7);
  const auto task = take_rank(text);
  if (!task || !take(text, ": ")) return true;
  std::int64_t signal = 0;
  if (text.starts_with("Killed")) signal = SIGKILL;
  if (text.starts_with("Segmentation")) signal = SIGSEGV;
  if (text.starts_with("Bus")) signal = SIGBUS;
  if (text.starts_with("Aborted")) signal = SIGABRT;
  if (text.starts_with("Exited with signal")) signal = int_behind(text, "signal").value_or(0);
  const bool oom = text.starts_with("Out Of Memory");
  const auto status = int_behind(text, "exit code");
  const bool first = !std::exchange(a_task_failed, true);
  const bool own = signal == SIGSEGV || signal == SIGBUS || oom;
  if (!own && (!first || (signal == 0 && !status) || signal < 0 || signal > 64)) return true;
  const WitnessKind kind = oom           ? WitnessKind::host_oom_killed
                           : signal != 0 ? meaning_of_signal(static_cast<int>(signal)).kind
                                         : WitnessKind::exception;
  LogWitness witness{.value = make(kind, line),
                     .only_exit = (signal == 0 && !oom) || signal == SIGABRT,
                     .host = std::string(host)};
  if (signal != 0) witness.value.code = static_cast<int>(signal);
  if (signal == 0 && status)
    witness.value.code = static_cast<int>(std::min<std::int64_t>(*status, 255));
  add(std::move(witness), Label{*task, -1});
  return true;
}

// ---- tracebacks
// ----------------------------------------------------------------------------------

bool WatchdogReader::State::traceback(const Line& line) {
  ++news;
  const Writer writer = writer_of(line.envelope);
  close(writer);
  if (open.size() >= limits::kOpenTracebacks) return true;
  LogEnvelope envelope = line.envelope;
  envelope.message = {};
  open.emplace(writer, Open{{}, line.envelope.at, label_of(line.envelope), std::move(envelope)});
  return true;
}

void WatchdogReader::State::close(const Writer& writer) {
  const auto found = open.find(writer);
  if (found == open.end()) return;
  const Open ended = std::move(found->second);
  open.erase(found);
  if (!ended.traceback.has_exception()) return;
  Line line{ended.envelope, ended.traceback.exception(), ended.traceback.number()};
  line.envelope.message = ended.traceback.exception();
  if (line.text.find("Detected mismatch between collectives") != std::string_view::npos) {
    fingerprint(line);
    return;
  }
  judge(meaning_of_exception(line.text), line, ended.traceback.summary());
}

void WatchdogReader::State::close_all() {
  while (!open.empty()) close(Writer(open.begin()->first));
}

// True where the line belongs to an open traceback of its writer.
bool WatchdogReader::State::feed_traceback(const Line& line) {
  if (line.envelope.native) return false;
  const Writer writer = writer_of(line.envelope);
  const auto found = open.find(writer);
  if (found == open.end()) return false;
  if (found->second.traceback.line(line.envelope.message, line.number) == Traceback::Step::closed) {
    close(writer);
    return false;
  }
  return true;
}

// ---- whose line it is
// ----------------------------------------------------------------------------

void WatchdogReader::State::learn(const LogEnvelope& e) {
  const Label label = label_of(e);
  if (e.in_group && in_default_group.size() < limits::kOpenTracebacks) {
    const auto [known, fresh] = in_default_group.try_emplace(writer_of(e), e.default_group);
    if (fresh || known->second != e.default_group) ++news;
    known->second = e.default_group;
  }
  if (!e.rank || ranks.size() > limits::kWitnesses) return;
  if (ranks.insert(*e.rank).second) ++news;
  if (label != Label{} && seen[label].insert(*e.rank).second) ++news;
  if (e.pid) add_process({e.host, *e.pid, *e.rank, 0});
}

void WatchdogReader::State::add_process(RankProcess process) {
  if (reading.processes.size() >= limits::kWitnesses) return;
  if (!processes.emplace(process.pid, process.rank, process.of_ranks, process.host).second) return;
  ++news;
  reading.processes.push_back(std::move(process));
}

void WatchdogReader::State::place(Unplaced& waiting) {
  LogWitness& witness = reading.witnesses[waiting.at];
  const auto set = [&](std::int32_t rank) {
    witness.value.rank = rank;
    witness.placed = true;
  };
  const auto known = seen.find(waiting.label);
  if (known != seen.end()) {
    if (known->second.size() == 1) set(*known->second.begin());
    return;
  }
  if (waiting.label.task >= 0 && waiting.label.local < 0) {
    // Tasks are ranks unless a tagged line says otherwise, or torchrun runs inside of them.
    const bool tasks_are_ranks = std::all_of(seen.begin(), seen.end(), [](const auto& pair) {
      return pair.first.local < 0 && pair.second.size() == 1 &&
             (pair.first.task < 0 || *pair.second.begin() == pair.first.task);
    });
    if (tasks_are_ranks) set(waiting.label.task);
    return;
  }
  // A file named for one rank, and nothing in it of another.
  const bool own = ranks.empty() || (ranks.size() == 1 && *ranks.begin() == options.rank);
  if (options.rank && own) set(*options.rank);
}

// ---- the reader
// ----------------------------------------------------------------------------------

void WatchdogReader::State::read(std::string_view text, std::uint64_t number,
                                 const std::vector<int>& hits) {
  std::string plain;
  if (text.find('\x1b') != std::string_view::npos) {
    plain = without_colours(text);
    text = plain;
  }
  std::string unescaped;
  std::optional<WallTime> at = std::nullopt;
  if (auto inner = read_docker_line(text)) {
    if (const auto stamp = behind(text, "\"time\":\"")) {
      const auto time = parse_timestamp(stamp->substr(0, stamp->find('"')));
      if (time) at = time->at;
    }
    unescaped = std::move(*inner);
    text = unescaped;
  }
  Line line{read_log_envelope(text, options.written), text, number};
  if (!line.envelope.at && at) {
    line.envelope.at = at;
    line.envelope.at_has_zone = true;  // Docker writes UTC
  }
  learn(line.envelope);
  if (feed_traceback(line)) return;
  for (const int hit : hits) {
    const Shape shape = shapes()[static_cast<std::size_t>(hit)].second;
    if ((this->*shape)(line)) return;
  }
}

WatchdogReader::WatchdogReader(Options options)
    : state_(std::make_unique<State>(std::move(options))) {}
WatchdogReader::~WatchdogReader() = default;
WatchdogReader::WatchdogReader(WatchdogReader&&) noexcept = default;
WatchdogReader& WatchdogReader::operator=(WatchdogReader&&) noexcept = default;

void WatchdogReader::line(std::string_view text, std::uint64_t number) {
  std::vector<int> hits;
  const re2::StringPiece piece(text.data(), text.size());
  const bool hit = State::anchors().Match(piece, &hits);
  if (!hit && state_->open.empty()) return;
  std::sort(hits.begin(), hits.end());
  state_->read(text, number, hits);
}

std::uint64_t WatchdogReader::news() const {
  return state_->news;
}

bool WatchdogReader::wants_next() const {
  return !state_->open.empty();
}

LogReading WatchdogReader::finish() {
  state_->close_all();
  for (State::Unplaced& waiting : state_->unplaced) state_->place(waiting);
  auto& witnesses = state_->reading.witnesses;
  std::stable_sort(
      witnesses.begin(), witnesses.end(),
      [](const LogWitness& a, const LogWitness& b) { return a.value.line < b.value.line; });
  return std::move(state_->reading);
}

std::span<const std::string_view> watchdog_anchors() {
  static constexpr std::string_view kAnchors[] = {
      "Traceback (most recent call last)",
      "Detected mismatch between collectives on ranks",
      "Watchdog caught collective operation timeout",
      "timed out in blocking wait",
      "Received a dump signal due to a collective timeout",
      "Observed flight recorder dump signal from another rank",
      "ast enqueued NCCL work:",
      "ast enqueued work:",
      "watchdog got stuck for",
      "Heartbeat monitor timed out!",
      "Could not acquire GIL within",
      "destroy_process_group() was not called before program exit",
      "process group has NOT been destroyed",
      "Watchdog joined, destroying NCCL communicators",
      "raised the following async exception",
      "watchdog thread terminated with exception",
      "but didn't join collective",
      "FlightRecorder is disabled",
      "remote error detected from rank",
      "Forward order differs",
      "monitoredBarrier",
      "clients joined",
      " NCCL WARN ",
      "ncclCommInitRank",
      "CUDA out of memory",
      "CUDA error: ",
      "Killed process ",
      "NVRM: Xid (",
      "Fatal Python error: ",
      "terminate called after throwing",
      "Root Cause (first observed failure)",
      "time  ",
      "host  ",
      "rank  ",
      "exitcode  ",
      ": task ",
      "ProcessGroupNCCL.cpp:",
  };
  return kAnchors;
}

}  // namespace muster
