#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/explain_run.h"
#include "app/rule_check.h"
#include "base/text.h"
#include "cmd/read_progress.h"
#include "cmd/telemetry_options.h"
#include "cmd/verbs.h"
#include "core/kernel/code_text.h"
#include "edge/config/rules_file.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster explain logs/                          every log below, of all hosts and ranks\n"
    "  muster explain train.log dmesg.txt df.txt     one run, and what the host says\n"
    "  muster explain n1.tar.gz n2.tar.gz --tz n2=Asia/Seoul\n"
    "  kubectl logs job/train | muster explain -\n"
    "  muster explain xid 79                         what a code means and what to do;\n"
    "  muster explain sxid 12028                     without a number: the whole table\n"
    "  muster explain nvlink 149 NETIR_LINK_EVT 0x004505c6 0x0\n"
    "  muster explain --test-rules rules.toml        tries own rules on their lines\n"
    "\n"
    "Files are known by their content: logs of ranks, kernels, Slurm, Kubernetes and launchers,\n"
    "packed or rotated, and what df, ulimit, ps, sacct and their kind print. The earliest failure\n"
    "that the others follow from is the answer; the chain from it to the last shout stands below.\n"
    "\n"
    "Exit status: 0 ok or info, 1 warning, 2 critical, 3 cannot tell, 64 usage, 65 no input.";

class ExplainVerb final : public Verb {
 public:
  std::string_view name() const override { return "explain"; }
  std::string_view summary() const override {
    return "any pile of logs: the first cause, and what only followed from it";
  }

  void declare(VerbOptions& options) override {
    options.positionals("PATH", &paths_,
                        "logs, folders, archives, - for standard input; or xid, sxid or nvlink "
                        "and a code");
    options.list("--tz", &zones_, "[HOST=]ZONE",
                 "zone of times that carry none: Asia/Seoul, +09:00; default: this machine's");
    options.text("--rules", &rules_, "FILE",
                 "own rules for lines of logs, before the built-in ones", "explain.rules");
    options.text("--test-rules", &tested_, "FILE",
                 "try the rules of a file on the lines that they were made for");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    if (!tested_.empty()) return test_rules(console);
    if (const auto table = table_asked()) return codes(*table, console);
    if (paths_.empty()) {
      console.complain("name the logs: a folder, files, archives or - (muster explain --help)");
      return ExitStatus::usage;
    }
    return explain_paths(console);
  }

 private:
  // A file of such a name is meant before the word.
  std::optional<CodeTable> table_asked() {
    if (paths_.empty() || real_files().stat(paths_[0])) return std::nullopt;
    const std::string low = to_lower(paths_[0]);
    // "xid79" is "xid 79".
    const std::size_t digits = low.find_first_of("0123456789");
    const std::string word = low.substr(0, digits);
    const auto table = word == "xid"      ? std::optional(CodeTable::xid)
                       : word == "sxid"   ? std::optional(CodeTable::sxid)
                       : word == "nvlink" ? std::optional(CodeTable::nvlink)
                                          : std::nullopt;
    if (!table) return std::nullopt;
    paths_[0] = word;
    if (digits != std::string::npos) paths_.insert(paths_.begin() + 1, low.substr(digits));
    return table;
  }

  static std::optional<std::uint32_t> word(const std::string& text) {
    const auto value = text.starts_with("0x") ? parse_hex(text) : parse_uint(text);
    if (!value || *value > 0xffffffffu) return std::nullopt;
    return static_cast<std::uint32_t>(*value);
  }

  ExitStatus codes(CodeTable table, Console& console) const {
    std::optional<std::int32_t> code;
    std::optional<NvlinkWords> words;
    const auto number = paths_.size() > 1 ? word(paths_[1]) : std::nullopt;
    if (number && *number <= 1'000'000) code = static_cast<std::int32_t>(*number);
    bool fine = paths_.size() == 1 || (paths_.size() == 2 && code);
    if (table == CodeTable::nvlink && paths_.size() == 5 && code) {
      const auto info = word(paths_[3]), status = word(paths_[4]);
      if (info && status) words = NvlinkWords{paths_[2], *info, *status};
      fine = words.has_value();
    }
    if (!fine) {
      console.complain(
          "muster explain xid [CODE], sxid [CODE], or nvlink [CODE [UNIT INFO STATUS]]: UNIT and "
          "both words as they stand in the line");
      return ExitStatus::usage;
    }
    const auto rows = code_rows(table, code, words);
    if (rows.empty()) {
      const std::string_view kind = table == CodeTable::xid    ? "Xid"
                                    : table == CodeTable::sxid ? "SXid"
                                                               : "NVLink";
      console.complain(fmt::format("{} {} is not known here", kind, code.value_or(0)));
      return ExitStatus::usage;
    }
    console.print(console.json() ? code_json(rows) + "\n" : code_text(rows, console.width()));
    return ExitStatus::ok;
  }

  ExitStatus test_rules(Console& console) const {
    const auto file = read_rules_file(real_files(), tested_);
    if (!file) return console.fail(file.error());
    const auto check = check_rules(file->rules, file->match, file->no_match);
    if (!check) return console.fail(check.error());
    for (const std::string& failure : check->failures) {
      console.print("FAIL  " + escape_controls(failure, 600) + "\n");
    }
    for (const std::string& rule : check->untested) {
      console.print(
          fmt::format("WARN  rule {} has no line that it must match\n", escape_controls(rule, 80)));
    }
    console.print(fmt::format("{} rules, {} lines, {} failed\n", file->rules.size(), check->lines,
                              check->failures.size()));
    if (!check->failures.empty()) return ExitStatus::critical;
    return check->untested.empty() ? ExitStatus::ok : ExitStatus::warning;
  }

  ExitStatus explain_paths(Console& console) const {
    ExplainRequest request;
    request.paths = paths_;
    for (const std::string& text : zones_) {
      auto zone = parse_zone(text);
      if (!zone) {
        console.complain("--tz: " + zone.error().context);
        return ExitStatus::usage;
      }
      request.zones.insert_or_assign(std::move(zone->first), std::move(zone->second));
    }
    if (!request.zones.contains("")) {
      auto own = TimeZone::make("");
      if (!own) return console.fail(own.error());
      request.zones.emplace("", std::move(*own));
      request.zone_guessed = true;
    }
    if (!rules_.empty()) {
      auto file = read_rules_file(real_files(), rules_);
      if (!file) return console.fail(file.error());
      request.rules = std::move(file->rules);
    }
    ReadProgressLine line;
    request.on_progress = [&line](const ReadProgress& progress) { line.show(progress); };
    const auto report = explain_once(request, real_files());
    line.clear();
    if (!report) return console.fail(report.error());
    return console.answer(*report);
  }

  std::vector<std::string> paths_, zones_;
  std::string rules_, tested_;
};

}  // namespace

std::unique_ptr<Verb> make_explain_verb() {
  return std::make_unique<ExplainVerb>();
}

}  // namespace muster
