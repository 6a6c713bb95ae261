#include "core/site/site_document.h"

#include <string>

#include "base/colours.h"
#include "base/limits.h"
#include "core/site/counter_reader.h"
#include "core/site/disk_reader.h"
#include "core/site/driver_reader.h"
#include "core/site/gid_reader.h"
#include "core/site/gpu_reader.h"
#include "core/site/job_reader.h"
#include "core/site/limits_reader.h"
#include "core/site/listener_reader.h"
#include "core/site/listing_reader.h"
#include "core/site/node_reader.h"
#include "core/site/package_reader.h"
#include "core/site/pci_reader.h"
#include "core/site/place_reader.h"
#include "core/site/process_reader.h"
#include "core/site/record_reader.h"
#include "core/site/service_reader.h"
#include "core/site/settings_reader.h"
#include "core/site/trial_reader.h"

namespace muster {
namespace {

// Tools with headings or forms of their own; a file may hold the output of several.
constexpr void (*kTools[])(SiteText&) = {
    read_disks,    read_limits,  read_services, read_gids,       read_pci_tree,
    read_listing,  read_jobs,    read_nodes,    read_listeners,  read_processes,
    read_packages, read_drivers, read_counters, read_gpu_states, read_trials};

// Forms that many texts have: a document is all of one of them, or none.
constexpr void (*kWhole[])(SiteText&) = {read_job_script, read_places, read_settings, read_records};

bool is_document(const SiteText& text) {
  const std::size_t open = text.open_lines(), claimed = text.claimed_lines();
  return claimed > 0 && claimed * 10 >= (claimed + open) * 7;
}

std::optional<std::vector<SiteFact>> facts_of(std::string_view name, std::string_view bytes,
                                              std::span<void (*const)(SiteText&)> readers) {
  SiteText text(name, bytes);
  for (const auto read : readers) read(text);
  if (!is_document(text)) return std::nullopt;
  auto facts = text.take_facts();
  if (facts.empty()) return std::nullopt;
  for (SiteFact& fact : facts) fact.source = std::string(name);
  return facts;
}

}  // namespace

std::optional<std::vector<SiteFact>> read_site_document(std::string_view name,
                                                        std::string_view bytes) {
  if (bytes.size() > limits::kDocumentBytes || bytes.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  std::string plain;
  if (bytes.find('\x1b') != std::string_view::npos) {
    plain = without_colours(bytes);
    bytes = plain;
  }
  if (auto facts = facts_of(name, bytes, kTools)) return facts;
  for (const auto& read : kWhole) {
    if (auto facts = facts_of(name, bytes, {&read, 1})) return facts;
  }
  return std::nullopt;
}

}  // namespace muster
