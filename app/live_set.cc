#include "app/live_set.h"

#include <algorithm>

#include "app/host_names.h"
#include "base/utf16.h"

namespace muster {
namespace {

constexpr Duration kLeastShare = std::chrono::milliseconds(200);
constexpr std::size_t kHeadBytes = 8 * 1024;

// What the file begins with today; nothing where that cannot be told without waiting for it.
std::optional<std::string> head_of(const SourceSpec& spec, Files& files) {
  const auto info = files.stat(spec.path);
  if (!info || info->type != FileInfo::Type::file) return std::nullopt;
  auto stream = files.open(spec.path);
  std::string head(kHeadBytes, '\0');
  const auto n = stream ? (*stream)->read(head) : Result<std::size_t>(0);
  if (!n || *n == 0) return std::nullopt;
  head.resize(*n);
  return Utf16Decoder::begins(head) ? Utf16Decoder().feed(head) : head;
}

}  // namespace

bool has_live_source(const std::vector<std::string>& sources, Files& files) {
  return std::any_of(sources.begin(), sources.end(),
                     [&](const std::string& text) { return is_live(parse_source(text, files)); });
}

Status LiveSet::open() {
  std::vector<std::string> once;
  std::vector<SourceSpec> tails;
  std::optional<Error> last;
  for (const std::string& text : sources_) {
    SourceSpec spec = parse_source(text, files_);
    if (!is_live(spec) && !follow_) {
      once.push_back(text);
    } else if (!is_live(spec)) {
      tails.push_back(std::move(spec));
    } else if (auto source = open_live(spec); source) {
      add(make_polled(std::move(*source), spec.host, clock_));
    } else {
      last = source.error();
      fixed_.blind.push_back({text, source.error().context, true});
    }
  }
  add_tails(std::move(tails));
  if (follow_) {
    for (const std::string& log : options_.step_logs) {
      add(make_tail({log, "", log}, true, options_, files_, clock_));
    }
  }
  if (watched_.empty() && once.empty() && last) return *last;
  return follow_ ? Status{} : read_once(once);
}

// The same rule as for files that are read once: of several inputs of one dialect that name no
// host, each is a host named like its file. A file that is not there yet may become any dialect.
void LiveSet::add_tails(std::vector<SourceSpec> specs) {
  struct Kind {
    bool apart = false;  // has a host, or needs none
    Dialect dialect = Dialect::unknown;
    bool alike(const Kind& o) const {
      const bool known = dialect != Dialect::unknown && o.dialect != Dialect::unknown;
      return !o.apart && (!known || dialect == o.dialect);
    }
  };
  std::vector<Kind> kinds;
  for (const SourceSpec& spec : specs) {
    const auto head = head_of(spec, files_);
    Kind kind;
    kind.apart = !spec.host.empty() || (head && is_step_log(*head));
    if (!options_.columns.empty()) {
      kind.dialect = Dialect::table_csv;
    } else if (head) {
      kind.dialect = recognise(*head);
    }
    kinds.push_back(kind);
  }
  std::vector<std::size_t> nameless;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto alike = [&](const Kind& other) { return kinds[i].alike(other); };
    if (kinds[i].apart || std::count_if(kinds.begin(), kinds.end(), alike) <= 1) continue;
    nameless.push_back(i);
    paths.push_back(specs[i].path);
  }
  const std::vector<std::string> hosts = host_names(paths);
  for (std::size_t i = 0; i < nameless.size(); ++i) specs[nameless[i]].host = hosts[i];
  for (SourceSpec& spec : specs) {
    add(make_tail(std::move(spec), false, options_, files_, clock_));
  }
}

Status LiveSet::read_once(const std::vector<std::string>& sources) {
  if (sources.empty() && options_.step_logs.empty()) return {};
  auto read = read_sources(sources, options_, files_, clock_, target_);
  if (!read) {
    if (watched_.empty()) return read.error();
    fixed_.blind.push_back({"files", read.error().context, true});
    return {};
  }
  fixed_.telemetry = read->telemetry;
  fixed_.undated = read->undated;
  for (Blind& blind : read->blind) fixed_.blind.push_back(std::move(blind));
  for (std::string& note : read->notes) fixed_.notes.push_back(std::move(note));
  return {};
}

void LiveSet::poll(MonoTime deadline) {
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(watched_.size(), 1));
  const Duration share = std::max<Duration>((deadline - clock_.mono()) / count, kLeastShare);
  for (Watched& w : watched_) {
    const Status polled = w.input->poll(clock_.mono() + share, target_);
    w.failure = polled ? std::nullopt : std::optional(polled.error());
  }
}

bool LiveSet::undated() const {
  bool any = fixed_.undated > 0;
  for (const Watched& w : watched_) {
    const std::optional<bool> undated = w.input->undated();
    if (undated == false) return false;
    any = any || undated.has_value();
  }
  return any && fixed_.undated == fixed_.telemetry;
}

std::vector<Blind> LiveSet::blind() const {
  std::vector<Blind> out = fixed_.blind;
  for (const Watched& w : watched_) {
    if (w.failure) out.push_back({w.input->name(), reason_of(w.input->name(), *w.failure), true});
  }
  return out;
}

}  // namespace muster
