#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "core/explain/joins.h"

namespace muster {
namespace {

constexpr Duration kMoment = std::chrono::minutes(2);
// Errors of a slot that have to do with the loss of its GPU come this soon before it.
constexpr Duration kErrorsLead = std::chrono::minutes(10);
// One corrected error says nothing, a stream of them does.
constexpr std::uint64_t kStream = 2;

std::string pci_of(const LogEvent& event) {
  std::string pci = pci_key(event.word("pci"));
  if (!pci.empty() || event.subject.kind != CulpritKind::gpu) return pci;
  const std::string_view id = event.subject.id;
  const std::size_t slash = id.rfind('/');
  return pci_key(slash == id.npos ? id : id.substr(slash + 1));
}

// A GPU that the tools cannot reach any more, told by a fact or by a line.
struct LostGpu {
  std::string host, gpu;
  std::optional<std::size_t> fact, event;
};

std::vector<LostGpu> lost_gpus(const Scene& scene) {
  std::vector<LostGpu> out;
  for (const FactRef& ref : all_facts<GpuState>(scene)) {
    const auto& state = std::get<GpuState>(ref.fact->value);
    const std::string told = to_lower(state.name + " " + state.value + " " + ref.fact->text);
    if (told.find("device handle") == told.npos && told.find("gpu is lost") == told.npos) continue;
    out.push_back({ref.fact->host, state.gpu, ref.index, std::nullopt});
  }
  for (const std::size_t i : scene.with_cause(Cause::gpu_fell_off_bus)) {
    if (scene.role(i) != EventRole::confirmation) continue;
    out.push_back({scene.host(i), pci_of(scene.event(i)), std::nullopt, i});
  }
  return out;
}

// Host and device of "n1/0000:3b:00.0", "0000:3b:00.0".
std::pair<std::string_view, std::string_view> parts_of(std::string_view id) {
  const std::size_t slash = id.rfind('/');
  if (slash == id.npos) return {"", id};
  return {id.substr(0, slash), id.substr(slash + 1)};
}

bool names_gpu(const Scene& scene, const Claim& claim, const Culprit& gpu) {
  const auto [host, device] = parts_of(gpu.id);
  const std::string pci = pci_key(device);
  return std::any_of(claim.culprits.begin(), claim.culprits.end(), [&](const Culprit& c) {
    if (c == gpu) return true;
    // One of them may not name the host.
    const auto [its_host, its_device] = parts_of(c.id);
    return !pci.empty() && pci == pci_key(its_device) && scene.same_host(host, its_host);
  });
}

// The claim is about one GPU or host, and it is of this host.
bool only_of(const Scene& scene, const Claim& claim, std::string_view host) {
  if (claim.culprits.size() != 1) return false;
  const Culprit& one = claim.culprits.front();
  const std::string_view its =
      one.kind == CulpritKind::host ? std::string_view(one.id) : parts_of(one.id).first;
  return scene.same_host(its, host);
}

// Lines of errors on a port that may have to do with the loss of the GPU behind it; `loss` is when
// it was lost, absent: not known.
std::vector<std::size_t> errors_of_port(const Scene& scene, std::string_view host,
                                        const std::string& port, std::optional<std::size_t> loss) {
  std::vector<std::size_t> out;
  std::uint64_t corrected = 0;
  bool grave = false;
  for (const std::size_t i : scene.with_rule("pcie_error")) {
    if (pci_of(scene.event(i)) != port || !scene.same_host(scene.host(i), host)) continue;
    if (loss && scene.clock().before(*loss, i)) continue;
    const auto lead = loss ? scene.clock().gap(i, *loss) : std::nullopt;
    if (lead && *lead > kErrorsLead) continue;
    out.push_back(i);
    const bool mild = scene.event(i).word("grade") == "corrected";
    if (mild) corrected += 1 + scene.event(i).repeats;
    grave |= !mild;
  }
  if (!grave && corrected < kStream) out.clear();
  return out;
}

// Errors on the port of a GPU say that its link or slot went.
void add_port_errors(const Scene& scene, const LostGpu& lost, Claim& claim) {
  const std::string gpu = pci_key(lost.gpu);
  const auto loss = lost.event ? lost.event : claim.first();
  for (const FactRef& tree : facts_of<PciBridge>(scene, lost.host)) {
    const auto& bridge = std::get<PciBridge>(tree.fact->value);
    if (gpu.empty() || pci_key(bridge.device) != gpu) continue;
    const auto errors = errors_of_port(scene, lost.host, pci_key(bridge.port), loss);
    if (errors.empty()) continue;
    claim.events.insert(claim.events.end(), errors.begin(), errors.end());
    claim.facts.push_back(tree.index);
    claim.confidence = claim.culprits.size() == 1 ? Confidence::high : Confidence::medium;
    claim.what =
        fmt::format("the GPU is lost after errors on its PCIe port {}", pci_key(bridge.port));
  }
}

Claim unreachable() {
  Claim claim;
  claim.cause = Cause::gpu_fell_off_bus;
  claim.what = "the driver cannot reach the GPU any more";
  claim.actions = {Action::drain_host, Action::power_cycle_host, Action::check_power_cooling};
  // Without a word of the bus it may be its firmware or the driver.
  claim.confidence = Confidence::medium;
  claim.join = "lost_handle";
  return claim;
}

// What made it unreachable is told already: a dead firmware cannot be reached either. Without its
// address a lost GPU is the one of its host of which that is told.
Claim* told_already(const Scene& scene, const LostGpu& lost, const Culprit& gpu,
                    std::vector<Claim>& claims) {
  for (Claim& claim : claims) {
    if (!is_gpu_fault(claim.cause) || claim.follows) continue;
    if (names_gpu(scene, claim, gpu)) return &claim;
    const bool bare = pci_key(lost.gpu).empty() && claim.cause == Cause::gpu_fell_off_bus;
    if (bare && !claim.events.empty() && only_of(scene, claim, lost.host)) return &claim;
  }
  return nullptr;
}

void lost_handle(const Scene& scene, std::vector<Claim>& claims) {
  std::map<std::string, Claim> own;  // by host: several GPUs that are lost there are one loss
  for (const LostGpu& lost : lost_gpus(scene)) {
    const Culprit gpu =
        lost.gpu.empty() ? scene.host_culprit(lost.host) : scene.gpu_culprit(lost.host, lost.gpu);
    Claim* claim = told_already(scene, lost, gpu, claims);
    if (claim == nullptr) {
      claim = &own.try_emplace(host_key(lost.host), unreachable()).first->second;
      if (!names_gpu(scene, *claim, gpu)) claim->culprits.push_back(gpu);
    }
    if (lost.fact) claim->facts.push_back(*lost.fact);
    claim->join = "lost_handle";
    if (claim->cause == Cause::gpu_fell_off_bus) add_port_errors(scene, lost, *claim);
    if (lost.event) claim->events.push_back(*lost.event);
  }
  for (auto& [host, claim] : own) claims.push_back(std::move(claim));
}

// A link has two ends and a fabric many: where one GPU loses a link, its peers complain. The first
// GPU of a host is the one; where nobody was first, the fabric of the host.
void first_link(const Scene& scene, std::vector<Claim>& claims) {
  Claim* claim = find_claim(claims, Cause::nvlink_down);
  if (claim == nullptr || claim->events.empty()) return;
  std::map<std::string, std::vector<std::size_t>> by_host;
  for (const std::size_t i : claim->events) by_host[scene.host(i)].push_back(i);
  claim->culprits.clear();
  for (const auto& [host, events] : by_host) {
    const std::size_t first = events.front();
    std::set<std::string> at_once;
    for (const std::size_t i : events) {
      if (i == first || !scene.clock().before(first, i)) at_once.insert(scene.hardware_of(i).id);
    }
    if (at_once.size() == 1) {
      claim->culprits.push_back(scene.hardware_of(first));
    } else {
      claim->culprits.push_back(scene.host_culprit(host));
      claim->cap(Confidence::medium);
    }
  }
  // Hosts of one NVLink domain complain of each other's GPUs.
  if (by_host.size() > 1) claim->cap(Confidence::medium);
  claim->join = "first_link";
}

// ---- Faults of programs ----------------------------------------------------------------------

Culprit faulting_process(const Scene& scene, std::size_t i) {
  const LogEvent& e = scene.event(i);
  if (e.pid) return scene.process_culprit(scene.host(i), std::to_string(*e.pid));
  const std::string pci = pci_of(e);
  if (!pci.empty()) return scene.process_culprit(scene.host(i), "@" + pci);
  if (scene.rank(i)) return {CulpritKind::rank, std::to_string(*scene.rank(i))};
  return {CulpritKind::unknown, ""};
}

// What the kernel says of faults, as one claim.
Claim fault_claim(const Scene& scene, const std::vector<std::size_t>& faults) {
  Claim claim = claim_of(scene, Cause::app_memory_fault, faults);
  claim.severity = Severity::info;
  claim.culprits = {faulting_process(scene, faults.front())};
  claim.join = "program_faults";
  // A run that gave up waiting behind it was stopped by it.
  for (const std::size_t i : scene.with_rule("collective_timeout")) {
    if (scene.clock().before(faults.front(), i)) claim.severity = Severity::warning;
  }
  return claim;
}

// Faults of clients that the driver cannot name, on several GPUs of a host: what came first damaged
// the state of all of them.
bool contexts_lost(const Scene& scene, const std::vector<std::size_t>& faults, Claim& claim) {
  std::map<std::string, std::set<std::string>> gpus_of_host;
  std::set<std::string> unrecognised;
  for (const std::size_t i : faults) {
    gpus_of_host[scene.host(i)].insert(pci_of(scene.event(i)));
    if (scene.says(i, {"unrecognized_client"})) unrecognised.insert(scene.host(i));
  }
  for (const auto& [host, gpus] : gpus_of_host) {
    if (!unrecognised.contains(host) || gpus.size() < 2) continue;
    const auto first = std::find_if(faults.begin(), faults.end(),
                                    [&](std::size_t i) { return scene.host(i) == host; });
    claim.severity = Severity::critical;
    claim.culprits = {faulting_process(scene, *first)};
    claim.actions = {Action::drain_host, Action::reboot_host, Action::fix_code};
    claim.what =
        "a program's fault damaged the state of the GPUs of the node; the faults of "
        "clients that the driver cannot name follow";
    claim.next = "reboot the node before it is used again; the GPUs themselves are not suspect";
    claim.cap(Confidence::medium);
    return true;
  }
  return false;
}

void one_program(const Scene& scene, const std::vector<std::size_t>& faults, Claim& claim) {
  std::map<std::string, std::set<std::string>> gpus_of_program;
  for (const std::size_t i : faults) {
    const std::string_view program = scene.event(i).word("process");
    const std::string gpu = scene.host(i) + "/" + pci_of(scene.event(i));
    if (!program.empty()) gpus_of_program[std::string(program)].insert(gpu);
  }
  for (const auto& [program, gpus] : gpus_of_program) {
    if (gpus.size() < 2) continue;
    claim.severity = Severity::warning;
    claim.culprits = {{CulpritKind::process, program}};
    claim.actions = {Action::fix_code};
    claim.what = fmt::format("{} faults on {} GPUs: the program, not a card", program, gpus.size());
    claim.next = "run it under compute-sanitizer, or with CUDA_LAUNCH_BLOCKING=1";
  }
}

// A rank whose exception is the fault as the program sees it: the Xid is its witness.
bool rank_tells(const Scene& scene, const std::vector<std::size_t>& faults,
                std::vector<Claim>& claims) {
  Claim* claim = find_claim(claims, Cause::rank_exception);
  if (claim == nullptr || claim->events.empty()) return false;
  const std::size_t first = claim->events.front();
  const bool near = scene.same_host(scene.host(first), scene.host(faults.front()));
  if (!near || !scene.says(first, {"CUDA error", "illegal memory access", "GPU kernel"}))
    return false;
  claim->events.insert(claim->events.end(), faults.begin(), faults.end());
  claim->join = "program_faults";
  return true;
}

void program_faults(const Scene& scene, std::vector<Claim>& claims) {
  std::vector<std::size_t> by_kernel, by_rank;
  for (const std::size_t i : scene.with_cause(Cause::app_memory_fault)) {
    const bool xid = scene.event(i).rule == "xid";
    if (!xid && scene.role(i) != EventRole::root) continue;
    (xid ? by_kernel : by_rank).push_back(i);
  }
  std::erase_if(claims, [](const Claim& c) { return c.cause == Cause::app_memory_fault; });
  if (!by_kernel.empty()) {
    Claim claim = fault_claim(scene, by_kernel);
    const bool lost = contexts_lost(scene, by_kernel, claim);
    if (!lost) one_program(scene, by_kernel, claim);
    if (!lost && by_rank.empty() && rank_tells(scene, by_kernel, claims)) return;
    if (lost || by_rank.empty()) {
      claims.push_back(std::move(claim));
      return;
    }
  }
  if (by_rank.empty()) return;
  // The rank says itself that it died of it: that is news of the run, the Xid is its witness.
  Claim claim = claim_of(scene, Cause::rank_exception, by_rank);
  claim.severity = Severity::critical;
  claim.events.insert(claim.events.end(), by_kernel.begin(), by_kernel.end());
  claim.actions = {Action::fix_code, Action::restart_from_checkpoint};
  claim.next = "run that rank's data once with CUDA_LAUNCH_BLOCKING=1; the GPU is not suspect";
  claim.join = "program_faults";
  claims.push_back(std::move(claim));
}

// ---- Memory of GPUs --------------------------------------------------------------------------

bool remap_failed(const GpuState& state) {
  const std::string name = to_lower(state.name), value = to_lower(trim(state.value));
  const bool failure =
      name.find("remapping failure") != name.npos || name.find("remap failure") != name.npos;
  return failure && (value == "yes" || value == "1" || value == "true");
}

// The claim of a memory fault that is about this GPU alone. The state of a GPU that is not named is
// that of the only one of its host with such errors.
Claim* memory_claim(const Scene& scene, const SiteFact& fact, Cause cause,
                    std::vector<Claim>& claims) {
  const std::string& gpu = std::get<GpuState>(fact.value).gpu;
  for (Claim& claim : claims) {
    if (claim.cause != cause || claim.follows || !only_of(scene, claim, fact.host)) continue;
    if (gpu.empty() || names_gpu(scene, claim, scene.gpu_culprit(fact.host, gpu))) return &claim;
  }
  return nullptr;
}

void worn_out(const Scene& scene, std::vector<Claim>& claims) {
  for (const FactRef& ref : all_facts<GpuState>(scene)) {
    const auto& state = std::get<GpuState>(ref.fact->value);
    if (!remap_failed(state)) continue;
    Claim* claim = memory_claim(scene, *ref.fact, Cause::gpu_memory_worn_out, claims);
    for (const Cause memory : {Cause::ecc_uncorrectable, Cause::ecc_contained}) {
      Claim* other = claim == nullptr ? memory_claim(scene, *ref.fact, memory, claims) : nullptr;
      if (other == nullptr) continue;
      other->become(Cause::gpu_memory_worn_out, "worn_out");
      other->what = "rows of the GPU's memory could not be remapped any more";
      claim = other;
    }
    if (claim == nullptr) {
      claims.emplace_back();
      claim = &claims.back();
      claim->become(Cause::gpu_memory_worn_out, "worn_out");
      claim->what = "the GPU says that a remap of rows failed";
      claim->culprits = {state.gpu.empty() ? scene.host_culprit(ref.fact->host)
                                           : scene.gpu_culprit(ref.fact->host, state.gpu)};
      // Of which host, nobody says.
      if (!scene.same_host(ref.fact->host, ref.fact->host)) claim->cap(Confidence::low);
    } else {
      claim->confidence = Confidence::high;
    }
    claim->facts.push_back(ref.index);
    claim->actions = {Action::drain_host, Action::replace_gpu};
  }
}

// Errors of one GPU at several grades are one fault: the worst of them.
void one_memory_fault(const Scene&, std::vector<Claim>& claims) {
  constexpr Cause kWorstFirst[] = {Cause::gpu_memory_worn_out, Cause::ecc_uncorrectable,
                                   Cause::ecc_contained};
  for (std::size_t worse = 0; worse < std::size(kWorstFirst); ++worse) {
    Claim* claim = find_claim(claims, kWorstFirst[worse]);
    if (claim == nullptr) continue;
    for (std::size_t milder = worse + 1; milder < std::size(kWorstFirst); ++milder) {
      Claim* other = find_claim(claims, kWorstFirst[milder]);
      if (other == nullptr || other->culprits != claim->culprits) continue;
      claim->events.insert(claim->events.end(), other->events.begin(), other->events.end());
      other->follows = true;
    }
  }
}

// ---- Driver and fabric -----------------------------------------------------------------------

// "535.216" tells less than "535.216.03" and agrees with it.
bool versions_agree(std::string_view a, std::string_view b) {
  const auto left = split(a, '.'), right = split(b, '.');
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i] != right[i]) return false;
  }
  return true;
}

void driver_versions(const Scene& scene, std::vector<Claim>& claims) {
  for (const FactRef& kernel : all_facts<DriverVersion>(scene)) {
    const auto& loaded = std::get<DriverVersion>(kernel.fact->value);
    if (!loaded.kernel || loaded.version.empty()) continue;
    for (const FactRef& library : facts_of<DriverVersion>(scene, kernel.fact->host)) {
      const auto& used = std::get<DriverVersion>(library.fact->value);
      if (used.kernel || used.version.empty()) continue;
      if (versions_agree(loaded.version, used.version)) continue;
      Claim* claim = find_claim(claims, Cause::driver_library_mismatch);
      if (claim == nullptr) {
        claims.emplace_back();
        claim = &claims.back();
        claim->cause = Cause::driver_library_mismatch;
      }
      claim->what = fmt::format("programs bring driver {}, the kernel has loaded {}", used.version,
                                loaded.version);
      claim->culprits = {scene.host_culprit(kernel.fact->host)};
      claim->facts = {library.index, kernel.index};
      claim->confidence = Confidence::high;
      claim->join = "driver_versions";
    }
  }
  Claim* claim = find_claim(claims, Cause::driver_library_mismatch);
  if (claim == nullptr) return;
  if (claim->culprits.empty()) claim->culprits = {scene.host_culprit(host_of(scene, *claim))};
  claim->actions = {Action::refuse_launch, Action::reboot_host, Action::fix_config};
  for (const FactRef& ref : facts_of<PackageChange>(scene, host_of(scene, *claim))) {
    const auto& change = std::get<PackageChange>(ref.fact->value);
    const std::string name = to_lower(change.package);
    if (name.find("nvidia") == name.npos && name.find("cuda") == name.npos) continue;
    claim->facts.push_back(ref.index);
    claim->what += fmt::format("; {} went from {} to {}", change.package, change.from, change.to);
    claim->next = "reboot, or reload the kernel module, and hold back the packages of the driver";
  }
}

void nvls(const Scene& scene, std::vector<Claim>& claims) {
  std::vector<std::size_t> mild;
  for (const std::size_t i : scene.with_cause(Cause::nvswitch_not_set_up)) {
    const bool went_on = scene.says(i, {"proceeding without"});
    if (went_on || scene.event(i).severity == Severity::info) mild.push_back(i);
  }
  Claim* claim = find_claim(claims, Cause::nvswitch_not_set_up);
  const bool only_mild =
      claim != nullptr && std::all_of(claim->events.begin(), claim->events.end(), [&](auto i) {
        return std::find(mild.begin(), mild.end(), i) != mild.end();
      });
  if (only_mild)
    std::erase_if(claims, [](auto& c) { return c.cause == Cause::nvswitch_not_set_up; });
  if (!mild.empty() && (claim == nullptr || only_mild)) {
    Claim info = claim_of(scene, Cause::nvswitch_not_set_up, mild);
    info.severity = Severity::info;
    info.actions = {Action::watch};
    info.culprits = {scene.host_culprit(scene.host(mild.front()))};
    info.what = "NVLink SHARP is not available; NCCL went on without it";
    info.next = "look at the Fabric Manager once the job is done";
    info.join = "nvls";
    claims.push_back(std::move(info));
    return;
  }
  if (claim == nullptr) return;
  std::erase_if(claim->events, [&](std::size_t i) {
    return std::find(mild.begin(), mild.end(), i) != mild.end();
  });
  const std::string host = host_of(scene, *claim);
  claim->culprits = {scene.host_culprit(host)};
  claim->join = "nvls";
  bool told = false;
  for (const FactRef& ref : facts_of<ServiceState>(scene, host)) {
    const auto& service = std::get<ServiceState>(ref.fact->value);
    if (to_lower(service.name).find("fabricmanager") == std::string::npos) continue;
    claim->facts.push_back(ref.index);
    told = true;
    if (service.active) {
      claim->cap(Confidence::medium);
      claim->what += "; the Fabric Manager runs, so its version or the switches are the question";
      claim->actions = {Action::collect_evidence, Action::update_driver, Action::recheck};
      claim->next = "compare the version of the Fabric Manager with the driver's, look for SXids";
    } else {
      claim->what += fmt::format("; the Fabric Manager is {}", service.state);
      claim->actions = {Action::refuse_launch, Action::start_service, Action::recheck};
      claim->next = "start nvidia-fabricmanager, then initialise once more";
    }
  }
  if (!told) claim->cap(Confidence::medium);
}

// ---- A lost GPU and the ranks that fell silent with it ---------------------------------------

void gpu_and_its_rank(const Scene& scene, std::vector<Claim>& claims) {
  for (Claim& claim : claims) {
    if (!is_gpu_fault(claim.cause) || claim.follows || claim.events.empty()) continue;
    const std::size_t i = claim.events.front();
    auto rank = scene.rank(i);
    if (!rank) rank = scene.identity().rank_of_gpu(scene.host(i), pci_of(scene.event(i)));
    if (rank) claim.what += fmt::format(" (rank {})", *rank);
    // What the driver wants done: Xid 154 in its own words beats our table.
    for (const std::size_t k : scene.with_rule("xid")) {
      const auto recovery = parse_int(scene.event(k).word("recovery"));
      const auto gap = scene.clock().gap(i, k);
      if (!recovery || pci_of(scene.event(k)) != pci_of(scene.event(i))) continue;
      if (scene.host(k) != scene.host(i) || (gap && *gap > kMoment)) continue;
      claim.events.push_back(k);
      if (*recovery == 2)
        claim.actions = {Action::drain_host, Action::reboot_host, Action::restart_from_checkpoint};
    }
  }
}

constexpr Join kJoins[] = {
    {"lost_handle", "a GPU that the tools cannot reach; errors of its PCIe port; lspci -t",
     "the GPU fell off the bus", lost_handle},
    {"first_link", "fatal NVLink events of several GPUs", "the GPU that was first", first_link},
    {"program_faults", "faults of programs on several GPUs or hosts",
     "one program, or contexts that the driver lost", program_faults},
    {"worn_out", "memory errors; nvidia-smi -q", "the memory cannot be mended any more", worn_out},
    {"one_memory_fault", "memory errors of several grades", "one fault", one_memory_fault},
    {"driver_versions", "versions of library and kernel module; history of packages",
     "they differ, and since when", driver_versions},
    {"nvls", "NVLink SHARP that cannot be bound; state of the Fabric Manager",
     "the manager is missing, or NCCL went on without", nvls},
    {"gpu_and_its_rank", "a GPU fault; the map of ranks; Xid 154", "whose GPU it is, what helps",
     gpu_and_its_rank},
};

}  // namespace

std::span<const Join> gpu_joins() {
  return kJoins;
}

}  // namespace muster
