#include "core/health/check_output.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "core/health/gpu_row.h"
#include "core/health/judge.h"
#include "core/health/limits.h"
#include "core/model/json_writer.h"

namespace muster::health {
namespace {

// The order of what is worst: a fault that is sure outweighs what was not seen.
int badness(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::fail:
      return 4;
    case CheckOutcome::unknown:
      return 3;
    case CheckOutcome::warn:
      return 2;
    case CheckOutcome::pass:
      return 1;
    case CheckOutcome::skipped:
      break;
  }
  return 0;
}

std::string upper(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

// Of results that are as bad as the host's verdict, the first.
std::string reason_of(const CheckedHost& host, CheckOutcome verdict) {
  if (verdict == CheckOutcome::pass) return "";
  std::string out;
  std::size_t more = 0;
  for (const CheckResult& result : host.results) {
    if (result.outcome != verdict) continue;
    // A host is not unknown for what could only have warned.
    const Check* const row = find_check(result.check);
    if (verdict == CheckOutcome::unknown && row != nullptr && row->only_warns) continue;
    if (!out.empty()) {
      ++more;
      continue;
    }
    out = answered(host.reach) ? fmt::format("{}: {}", result.check, result.text) : result.text;
  }
  if (answered(host.reach) && more != 0) out += fmt::format(" (and {} more)", more);
  return escape_controls(out, 400);
}

void write_value(JsonWriter& w, const std::optional<GateValue>& value) {
  if (!value) {
    w.null();
  } else {
    std::visit([&w](const auto& held) { w.value(held); }, *value);
  }
}

void write_result(JsonWriter& w, const CheckResult& result) {
  w.begin_object().key("id").value(result.check);
  w.key("outcome").value(check_outcome_name(result.outcome));
  w.key("value");
  write_value(w, result.value);
  w.key("limit");
  write_value(w, result.limit);
  w.key("unit").value(result.unit).key("text").value(result.text);
  w.key("culprit").begin_object();
  w.key("kind").value(culprit_kind_name(result.culprit.kind));
  w.key("id").value(result.culprit.id).end_object();
  w.key("duration_ms").value(result.duration_ms).end_object();
}

std::string label(std::string_view text) {
  std::string out;
  for (const char c : escape_controls(text, 256)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// Text for Markdown: nothing in it starts a link, a heading or an element.
std::string markdown(std::string_view text) {
  std::string out;
  for (const char c : escape_controls(text, 600)) {
    if (std::string_view("\\`*_[]<>|#&").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string check_list(const Limits& limits) {
  std::string out;
  const auto add = [&out, &limits](const Check& check) {
    out += fmt::format("{:<17} {:<11} {}{}\n", check.id, check.group, check.title,
                       limits.is_off(check.id) ? " (off)" : "");
  };
  for (const Check& check : check_table()) add(check);
  add(kernel_log_check());
  out += "\nlimits\n";
  for (const LimitRow& row : limit_table()) {
    const auto value = limits.number(row.name);
    out +=
        fmt::format("{:<23} {:>9} {:<8} {}\n", row.name,
                    value ? fmt::format("{:g}", *value) : std::string("-"), row.unit, row.meaning);
  }
  return out;
}

std::string check_table_text(const std::vector<CheckedHost>& hosts) {
  std::size_t width = 4;
  for (const CheckedHost& host : hosts) width = std::max(width, host.host.size());
  width = std::min<std::size_t>(width, 40);
  std::string out;
  for (const CheckedHost& host : hosts) {
    const CheckOutcome verdict = verdict_of(host);
    std::string line = fmt::format("{:<{}}  {:<7}  {}", escape_controls(host.host, 80), width,
                                   upper(check_outcome_name(verdict)), reason_of(host, verdict));
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string check_json(const std::vector<CheckedHost>& hosts) {
  JsonWriter w;
  w.begin_object().key("schema").value("muster.check/1").key("hosts").begin_array();
  for (const CheckedHost& host : hosts) {
    w.begin_object().key("host").value(host.host).key("reach").value(reach_name(host.reach));
    w.key("complaint").value(host.complaint);
    w.key("verdict").value(check_outcome_name(verdict_of(host)));
    w.key("duration_ms").value(host.duration_ms).key("facts").begin_object();
    for (const auto& [name, value] : host.facts) w.key(name).value(value);
    w.end_object().key("checks").begin_array();
    for (const CheckResult& result : host.results) write_result(w, result);
    w.end_array().end_object();
  }
  w.end_array().end_object();
  return w.take();
}

std::string check_prometheus(const std::vector<CheckedHost>& hosts) {
  std::string out =
      "# HELP muster_check Outcome of a check: 0 passed, 1 warned, 2 failed, 3 unknown.\n"
      "# TYPE muster_check gauge\n";
  std::string reached =
      "# HELP muster_host_reached Whether the host could be asked at all.\n"
      "# TYPE muster_host_reached gauge\n";
  for (const CheckedHost& host : hosts) {
    const std::string name = label(host.host);
    std::map<std::string_view, CheckOutcome> worst;
    for (const CheckResult& result : host.results) {
      CheckOutcome& kept = worst.try_emplace(result.check, CheckOutcome::skipped).first->second;
      if (badness(result.outcome) > badness(kept)) kept = result.outcome;
    }
    for (const auto& [check, outcome] : worst) {
      if (outcome == CheckOutcome::skipped) continue;
      const int value = outcome == CheckOutcome::pass   ? 0
                        : outcome == CheckOutcome::warn ? 1
                        : outcome == CheckOutcome::fail ? 2
                                                        : 3;
      out += fmt::format("muster_check{{host=\"{}\",check=\"{}\"}} {}\n", name, check, value);
    }
    reached +=
        fmt::format("muster_host_reached{{host=\"{}\"}} {}\n", name, answered(host.reach) ? 1 : 0);
  }
  return out + reached;
}

std::vector<Serial> serials_of(const HostProbe& probe) {
  std::vector<Serial> out;
  const auto put = [&out](std::string part, std::string_view number) {
    number = trim(number);
    if (!number.empty()) out.push_back({std::move(part), std::string(number)});
  };
  if (const ProbeAnswer* const dmi = done_answer(probe, "dmi_serials")) {
    for (const ProbePart& part : dmi->parts) {
      put(part.name.ends_with("/chassis_serial") ? "chassis" : "machine", part.bytes);
    }
  }
  if (const ProbeAnswer* const smi = done_answer(probe, "nvidia_smi_query")) {
    for (const GpuRow& row : gpu_table(*smi).rows) {
      put(fmt::format("GPU {} ({})", row.cell(GpuCell::index), row.cell(GpuCell::pci)),
          row.word(GpuCell::serial).value_or(row.word(GpuCell::uuid).value_or("")));
    }
  }
  if (const ProbeAnswer* const nvme = done_answer(probe, "nvme")) {
    for (const ProbePart& part : nvme->parts) {
      const auto words = path_words(part.name, "/sys/class/nvme/");
      if (words.size() == 2 && words[1] == "serial") put(std::string(words[0]), part.bytes);
    }
  }
  if (const ProbeAnswer* const adapters = done_answer(probe, "ib_devices")) {
    for (const ProbePart& part : adapters->parts) {
      const auto words = path_words(part.name, "/sys/class/infiniband/");
      if (words.size() == 2 && words[1] == "node_guid") {
        put(fmt::format("adapter {} (GUID)", words[0]), part.bytes);
      }
    }
  }
  return out;
}

std::string check_ticket(const CheckedHost& host, const std::vector<Serial>& serials) {
  std::string out =
      fmt::format("# {}: {}\n\n", markdown(host.host), upper(check_outcome_name(verdict_of(host))));
  bool any = false;
  for (const CheckOutcome wanted : {CheckOutcome::fail, CheckOutcome::warn}) {
    for (const CheckResult& result : host.results) {
      if (result.outcome != wanted) continue;
      any = true;
      out += fmt::format("- **{}** {}: {}\n", upper(check_outcome_name(wanted)), result.check,
                         markdown(result.text));
      for (const Evidence& line : result.evidence) {
        out += fmt::format("  - {}: {}\n", markdown(line.source), markdown(line.text));
      }
    }
  }
  if (!answered(host.reach)) {
    out += fmt::format("- The host {}. {}\n", reach_meaning(host.reach), markdown(host.complaint));
    out +=
        "- A new host that does not start: cabling of its network, its BMC, power supplies, "
        "drives, "
        "loose inner cables, cards that are not listed.\n";
  } else if (!any) {
    out += "Nothing was found.\n";
  }
  if (!host.facts.empty()) out += "\n| | |\n|---|---|\n";
  for (const auto& [name, value] : host.facts) {
    out += fmt::format("| {} | {} |\n", markdown(name), markdown(value));
  }
  if (!serials.empty()) out += "\n| part | serial |\n|---|---|\n";
  for (const Serial& serial : serials) {
    out += fmt::format("| {} | {} |\n", markdown(serial.part), markdown(serial.number));
  }
  return out;
}

std::string drain_reason(const CheckedHost& host) {
  std::string out;
  for (const CheckResult& result : host.results) {
    if (result.outcome != CheckOutcome::fail) continue;
    out += fmt::format("{}{}: {}", out.empty() ? "muster: " : "; ", result.check, result.text);
  }
  // Slurm keeps a reason of any length; what people see of it in sinfo is the beginning.
  return escape_controls(out, 240);
}

}  // namespace muster::health
