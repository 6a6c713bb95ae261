#include "core/health/golden.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"
#include "core/health/gpu_row.h"
#include "core/health/judge.h"
#include "core/model/json_reader.h"
#include "core/model/json_writer.h"

namespace muster::health {
namespace {

constexpr std::string_view kSchema = "muster.golden";
constexpr int kVersion = 1;
constexpr std::size_t kFactChars = 200;

// Values and how often each is there: "8 x A", "7 x A, 1 x B".
class Tally {
 public:
  void add(std::string_view value) {
    if (!value.empty()) ++counts_[std::string(whole_characters(value, kFactChars))];
  }
  std::string text(bool counted) const {
    std::string out;
    for (const auto& [value, count] : counts_) {
      if (!out.empty()) out += ", ";
      out += counted ? fmt::format("{} x {}", count, value) : value;
    }
    return out;
  }

 private:
  std::map<std::string, std::size_t> counts_;
};

void put(HostFacts& facts, std::string_view name, std::string_view value) {
  value = whole_characters(trim(value), kFactChars);
  if (!value.empty()) facts.insert_or_assign(std::string(name), std::string(value));
}

void gpu_facts(const HostProbe& probe, HostFacts& out) {
  const ProbeAnswer* const smi = done_answer(probe, "nvidia_smi_query");
  if (smi == nullptr) return;
  Tally names, drivers, vbios;
  for (const GpuRow& row : gpu_table(*smi).rows) {
    if (row.lost()) continue;
    names.add(row.cell(GpuCell::name));
    drivers.add(row.word(GpuCell::driver).value_or(""));
    vbios.add(row.word(GpuCell::vbios).value_or(""));
  }
  put(out, "gpu", names.text(true));
  put(out, "driver", drivers.text(false));
  put(out, "vbios", vbios.text(false));
}

void adapter_facts(const HostProbe& probe, HostFacts& out) {
  constexpr std::string_view kFolder = "/sys/class/infiniband/";
  if (const ProbeAnswer* const devices = done_answer(probe, "ib_devices")) {
    std::map<std::string_view, std::pair<std::string_view, std::string_view>> cards;
    for (const ProbePart& part : devices->parts) {
      const auto words = path_words(part.name, kFolder);
      if (words.size() != 2) continue;
      if (words[1] == "board_id") cards[words[0]].first = trim(part.bytes);
      if (words[1] == "fw_ver") cards[words[0]].second = trim(part.bytes);
    }
    Tally firmware;
    for (const auto& [device, card] : cards) {
      if (!card.second.empty()) firmware.add(fmt::format("{} ({})", card.second, card.first));
    }
    put(out, "adapter_firmware", firmware.text(true));
  }
  const ProbeAnswer* const ports = done_answer(probe, "ib_ports");
  if (ports == nullptr) return;
  std::map<std::string, std::pair<std::string_view, std::string_view>> states;
  for (const ProbePart& part : ports->parts) {
    const auto words = path_words(part.name, kFolder);
    if (words.size() != 4) continue;
    auto& port = states[fmt::format("{}:{}", words[0], words[2])];
    if (words[3] == "state") port.first = trim(part.bytes);
    if (words[3] == "rate") port.second = trim(part.bytes);
  }
  Tally active;
  for (const auto& [name, port] : states) {
    if (port.first.ends_with("ACTIVE")) active.add(port.second);
  }
  put(out, "ib_ports", active.text(true));
}

// `NAME=value` of os-release, without quotes.
std::string_view assigned(std::string_view text, std::string_view name) {
  for (std::string_view line : lines_of(text)) {
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    if (line.size() >= 2 && line.front() == '"' && line.back() == '"') {
      line = line.substr(1, line.size() - 2);
    }
    return line;
  }
  return {};
}

// Rounded: a part of it goes to the kernel before it is counted, a little more or less each boot.
void memory_fact(const HostProbe& probe, HostFacts& out) {
  const ProbeAnswer* const info = done_answer(probe, "meminfo");
  if (info == nullptr) return;
  const auto words = words_of(assigned(output_of(*info), "MemTotal:"));
  const auto kib = words.empty() ? std::nullopt : parse_uint(words[0]);
  constexpr std::uint64_t kGib = 1024 * 1024, kStep = 8;
  if (kib) put(out, "memory", fmt::format("{} GiB", (*kib / kGib + kStep / 2) / kStep * kStep));
}

void system_facts(const HostProbe& probe, HostFacts& out) {
  const auto text = [&probe](std::string_view id) {
    const ProbeAnswer* const answer = done_answer(probe, id);
    return answer == nullptr ? std::string_view() : output_of(*answer);
  };
  put(out, "kernel", text("kernel_release"));
  put(out, "os", assigned(text("os_release"), "PRETTY_NAME="));
  memory_fact(probe, out);
  // "always [madvise] never"
  const std::string_view pages = text("huge_pages");
  const std::size_t open = pages.find('['), close = pages.find(']');
  if (open != std::string_view::npos && close != std::string_view::npos && close > open) {
    put(out, "huge_pages", pages.substr(open + 1, close - open - 1));
  }
  Tally governors;
  if (const ProbeAnswer* const cpufreq = done_answer(probe, "cpufreq")) {
    for (const ProbePart& part : cpufreq->parts) {
      if (part.name.ends_with("/scaling_governor")) governors.add(trim(part.bytes));
    }
  }
  put(out, "governor", governors.text(false));
  if (const ProbeAnswer* const dmi = done_answer(probe, "dmi")) {
    for (const ProbePart& part : dmi->parts) {
      if (part.name.ends_with("/product_name")) put(out, "machine", part.bytes);
      if (part.name.ends_with("/bios_version")) put(out, "bios", part.bytes);
    }
  }
  if (const ProbeAnswer* const drives = done_answer(probe, "nvme")) {
    Tally models;
    for (const ProbePart& part : drives->parts) {
      if (part.name.ends_with("/model")) models.add(trim(part.bytes));
    }
    put(out, "nvme", models.text(true));
  }
  if (const ProbeAnswer* const docker = done_answer(probe, "docker_info")) {
    const auto document = parse_json(trim(output_of(*docker)));
    const JsonNode* const version = document ? document->find("ServerVersion") : nullptr;
    if (version != nullptr && version->get<std::string>() != nullptr) {
      put(out, "docker", *version->get<std::string>());
    }
  }
}

}  // namespace

HostFacts host_facts(const HostProbe& probe) {
  HostFacts out;
  if (!answered(probe.reach)) return out;
  gpu_facts(probe, out);
  adapter_facts(probe, out);
  system_facts(probe, out);
  return out;
}

Golden learn_golden(std::span<const HostFacts> hosts) {
  std::map<std::string_view, std::map<std::string_view, std::size_t>> counts;
  Golden out;
  for (const HostFacts& facts : hosts) {
    if (!facts.empty()) ++out.hosts;
    for (const auto& [name, value] : facts) ++counts[name][value];
  }
  for (const auto& [name, values] : counts) {
    std::size_t all = 0;
    for (const auto& [value, count] : values) all += count;
    auto& allowed = out.facts[std::string(name)];
    for (const auto& [value, count] : values) {
      if (count * 4 >= all) allowed.emplace(value);
    }
    if (allowed.empty()) out.facts.erase(std::string(name));
  }
  return out;
}

std::string encode_golden(const Golden& golden) {
  JsonWriter w;
  w.begin_object().key("schema").value(fmt::format("{}/{}", kSchema, kVersion));
  w.key("hosts").value(std::uint64_t{golden.hosts}).key("facts").begin_object();
  for (const auto& [name, values] : golden.facts) {
    w.key(name).begin_array();
    for (const std::string& value : values) w.value(value);
    w.end_array();
  }
  return w.end_object().end_object().take() + "\n";
}

Result<Golden> decode_golden(std::string_view bytes) {
  const auto document = parse_json(bytes);
  if (!document) return document.error();
  if (const auto status = check_schema(*document, kSchema, kVersion); !status) {
    return status.error();
  }
  JsonFields fields(*document);
  Golden out;
  out.hosts = static_cast<std::size_t>(fields.require_integer("hosts"));
  fields.require("facts");
  for (const auto& [name, values] : fields.object("facts")) {
    const auto* const array = values.get<JsonNode::Array>();
    for (const JsonNode& value : array == nullptr ? JsonNode::Array() : *array) {
      const std::string* const text = value.get<std::string>();
      if (text == nullptr) fields.complain("facts", "values are texts");
      if (text != nullptr) out.facts[name].insert(*text);
    }
    if (array == nullptr) fields.complain("facts", "each has an array of values");
  }
  if (fields.fault()) return *fields.fault();
  return out;
}

}  // namespace muster::health
