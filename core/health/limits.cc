#include "core/health/limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/check.h"
#include "base/text.h"

namespace muster::health {
namespace {

constexpr std::nullopt_t kNone = std::nullopt;

constexpr LimitRow kTable[] = {
    {"disk_used_percent", "%", 95, "a file system with more in use fails, blocks or inodes"},
    {"disk_warn_percent", "%", 90, "with more in use it is a warning"},
    {"gpu_count", "GPUs", kNone, "a host has at least so many; by default what its PCI bus shows"},
    {"gpu_idle_mib", "MiB", 850, "memory of a GPU that nobody uses: driver and ECC take less"},
    {"gpu_temperature_c", "C", 84, "a GPU that is hotter is near its slowdown"},
    {"nvlink_count", "links", kNone,
     "active NVLinks of each GPU; by default those of the GPU of the host that has most"},
    {"nvlink_errors", "errors", 5, "of one link since the driver started"},
    {"ib_ports", "ports", kNone, "a host has at least so many active InfiniBand ports"},
    {"ib_rate_gbps", "Gb/s", kNone,
     "rate of its InfiniBand ports; by default the best of the adapters of that type"},
    {"ib_symbol_errors_per_s", "/s", 10, "on one port while it is watched"},
    {"ecc_corrected", "errors", 1000, "of a memory controller of the host since its start"},
    {"zpool_devices", "devices", kNone, "a host has at least so many in its ZFS pools"},
    {"clock_skew_s", "s", 1, "the clock of a host from ours, beyond half of the round trip"},
    {"clock_refused_s", "s", 300, "from here certificates and Kerberos tickets are refused"},
    {"open_files", "files", 65536, "limit of a process"},
    {"shm_mib", "MiB", 1024, "size of /dev/shm; containers start with 64"},
    {"cpu_clock_percent", "%", 90, "highest clock that is allowed, of the one that is possible"},
    {"cpu_busy_clock_percent", "%", 70, "clock of loaded cores, of the one that is possible"},
    {"stuck_process_s", "s", 60, "a process as old that waits for a device without a signal"},
};

const LimitRow* find_row(std::string_view name) {
  const auto found = std::find_if(std::begin(kTable), std::end(kTable),
                                  [name](const LimitRow& row) { return row.name == name; });
  return found == std::end(kTable) ? nullptr : found;
}

}  // namespace

std::span<const LimitRow> limit_table() {
  return kTable;
}

std::optional<double> Limits::number(std::string_view name) const {
  const LimitRow* const row = find_row(name);
  MUSTER_CHECK(row != nullptr, "every limit has a row");
  const auto told = told_.find(name);
  return told != told_.end() ? told->second : row->value;
}

double Limits::required(std::string_view name) const {
  const auto value = number(name);
  MUSTER_CHECK(value.has_value(), "the limit has a value in the table");
  return *value;
}

Status Limits::set(std::string_view name, double value) {
  if (find_row(name) == nullptr) {
    return make_error(Errc::not_found, fmt::format("no limit is called \"{}\"", name));
  }
  if (!std::isfinite(value) || value < 0) {
    return make_error(Errc::invalid_input, fmt::format("{}: a number from 0", name));
  }
  told_.insert_or_assign(std::string(name), value);
  return {};
}

Status Limits::set_text(std::string_view text) {
  const std::size_t at = text.find('=');
  const auto value =
      at == std::string_view::npos ? std::nullopt : parse_double(trim(text.substr(at + 1)));
  if (!value) {
    return make_error(Errc::invalid_input,
                      fmt::format("\"{}\": a limit is NAME=NUMBER", escape_controls(text, 80)));
  }
  return set(trim(text.substr(0, at)), *value);
}

}  // namespace muster::health
