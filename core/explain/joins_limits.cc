#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/explain/joins.h"

namespace muster {
namespace {

// Enough for any run: buffers of one adapter are some 100 MiB, loaders hold a few thousand files.
constexpr double kEnoughLockedBytes = 1024.0 * 1024 * 1024;
constexpr double kEnoughFiles = 65536;

bool is_limit(std::string_view name, std::string_view which) {
  const std::string low = to_lower(name);
  if (which == "memlock") {
    return low.find("memlock") != low.npos || low.find("locked") != low.npos;
  }
  return low.find("nofile") != low.npos || low.find("open files") != low.npos;
}

// Which limit a line is about; empty: none of these.
std::string_view limit_named(const Scene& scene, std::size_t i) {
  const LogEvent& e = scene.event(i);
  for (const std::string_view which : {"memlock", "nofile"}) {
    if (is_limit(e.subject.id, which) || is_limit(e.word("limit"), which)) return which;
  }
  if (scene.says(i, {"too many open files"})) return "nofile";
  const bool registers = scene.says(i, {"ibv_reg_mr", "ibv_reg_dmabuf", "register memory"});
  return registers && scene.says(i, {"cannot allocate memory", "enomem"}) ? "memlock" : "";
}

void weigh_limit(const Scene& scene, Claim& claim, std::string_view which) {
  const std::string host = host_of(scene, claim);
  claim.culprits = {{CulpritKind::config, std::string(which)}};
  const double enough = which == "memlock" ? kEnoughLockedBytes : kEnoughFiles;
  bool seen = false;
  for (const FactRef& ref : facts_of<ResourceLimit>(scene, host)) {
    const auto& limit = std::get<ResourceLimit>(ref.fact->value);
    if (!is_limit(limit.name, which) || (!limit.soft && !limit.soft_unlimited)) continue;
    seen = true;
    claim.facts.push_back(ref.index);
    if (limit.soft_unlimited || *limit.soft >= enough) {
      claim.become(Cause::undetermined, "resource_limit");
      claim.severity = Severity::critical;
      claim.confidence = Confidence::low;
      claim.culprits = {{CulpritKind::unknown, ""}};
      claim.what += fmt::format("; yet the limit {} is high enough where it was read", which);
      claim.next = "read /proc/PID/limits of the running process, and how much it uses";
      claim.actions = {Action::collect_evidence};
      return;
    }
    claim.what =
        fmt::format("{}; the limit {} is {:.0f} {}", claim.what, which, *limit.soft, limit.unit);
  }
  claim.join = "resource_limit";
  if (!seen && which == "memlock") claim.cap(Confidence::medium);
}

void resource_limit(const Scene& scene, std::vector<Claim>& claims) {
  for (Claim& claim : claims) {
    if (claim.events.empty()) continue;
    const bool open = claim.cause == Cause::limit_too_low || claim.cause == Cause::undetermined ||
                      claim.cause == Cause::rank_exception;
    const std::string_view which = open ? limit_named(scene, claim.events.front()) : "";
    if (which.empty()) continue;
    if (claim.cause != Cause::limit_too_low) claim.become(Cause::limit_too_low, "resource_limit");
    weigh_limit(scene, claim, which);
  }
}

// ---- Room on disks ---------------------------------------------------------------------------

// The mount that holds a path: the longest of the facts that does.
const DiskSpace* mount_of(const Scene& scene, std::string_view host, std::string_view path,
                          bool inodes, std::size_t& index) {
  const DiskSpace* best = nullptr;
  for (const FactRef& ref : facts_of<DiskSpace>(scene, host)) {
    const auto& space = std::get<DiskSpace>(ref.fact->value);
    if (space.inodes != inodes || !lies_in(path, space.mount)) continue;
    if (best != nullptr && best->mount.size() >= space.mount.size()) continue;
    best = &space;
    index = ref.index;
  }
  return best;
}

bool is_full(const DiskSpace& space) {
  return space.avail && *space.avail < (space.inodes ? 1 : std::max(1.0, space.block_bytes / 2));
}

void disk_room(const Scene& scene, std::vector<Claim>& claims) {
  for (Claim& claim : claims) {
    const bool room = claim.cause == Cause::disk_full ||
                      claim.cause == Cause::storage_write_error ||
                      claim.cause == Cause::inodes_exhausted;
    if (!room || claim.events.empty()) continue;
    const std::string path = path_of(scene.event(claim.events.front()));
    const std::string host = host_of(scene, claim);
    std::size_t of_inodes = 0, of_bytes = 0;
    const DiskSpace* inodes = mount_of(scene, host, path, true, of_inodes);
    const DiskSpace* bytes = mount_of(scene, host, path, false, of_bytes);
    if (inodes != nullptr && bytes != nullptr && inodes->mount != bytes->mount) {
      (inodes->mount.size() < bytes->mount.size() ? inodes : bytes) = nullptr;
    }
    if (bytes != nullptr) claim.facts.push_back(of_bytes);
    if (inodes != nullptr) claim.facts.push_back(of_inodes);
    if (inodes != nullptr && is_full(*inodes)) {
      claim.become(Cause::inodes_exhausted, "disk_room");
      claim.culprits = {{CulpritKind::file, inodes->mount}};
      claim.what = fmt::format("{} has no free inodes left: too many files", inodes->mount);
    } else if (bytes != nullptr && is_full(*bytes)) {
      if (claim.cause != Cause::disk_full) claim.become(Cause::disk_full, "disk_room");
      claim.culprits = {{CulpritKind::file, bytes->mount}};
      claim.what = fmt::format("{} has no room left", bytes->mount);
    } else if (bytes != nullptr && bytes->avail && claim.cause == Cause::disk_full) {
      claim.become(Cause::storage_write_error, "disk_room");
      claim.culprits = {{CulpritKind::file, path.empty() ? bytes->mount : path}};
      claim.what = fmt::format("a write said no room, while {} has some", bytes->mount);
      claim.next = "look at quotas and df -i of that file system, and at what was freed since";
      claim.cap(inodes != nullptr ? Confidence::medium : Confidence::low);
    } else if (claim.culprits.empty() && !path.empty()) {
      claim.culprits = {{CulpritKind::file, path}};
      claim.cap(Confidence::medium);
    }
  }
}

// A process got a bus error. PCIe has bus errors of its own, and an exit code of 7 is no signal.
bool bus_signal(const Scene& scene, std::size_t i) {
  const LogEvent& e = scene.event(i);
  if (e.word("signal") == "7" || e.word("signal") == "SIGBUS") return true;
  const bool of_program = layer_of(e.cause) == Layer::program || e.cause == Cause::shm_full;
  return of_program && scene.says(i, {"bus error"}) && !scene.says(i, {"pcie bus error"});
}

void shared_memory(const Scene& scene, std::vector<Claim>& claims) {
  for (Claim& claim : claims) {
    if (claim.events.empty()) continue;
    const bool bus = bus_signal(scene, claim.events.front());
    if (claim.cause != Cause::shm_full && !bus) continue;
    const std::string host = host_of(scene, claim);
    for (const FactRef& ref : facts_of<DiskSpace>(scene, host)) {
      const auto& space = std::get<DiskSpace>(ref.fact->value);
      if (space.mount != "/dev/shm" || space.inodes || !space.avail) continue;
      claim.facts.push_back(ref.index);
      const bool full = is_full(space) || (space.size && *space.avail < *space.size / 20);
      // What a container gets where nobody asks for more.
      const bool tiny = space.size && *space.size <= 64.0 * 1024 * 1024;
      if (!full && !tiny) {
        if (claim.cause == Cause::shm_full) claim.become(Cause::undetermined, "shared_memory");
        claim.severity = Severity::critical;
        claim.confidence = Confidence::low;
        claim.culprits = {{CulpritKind::unknown, ""}};
        claim.what += "; yet /dev/shm has room where it was read";
        claim.next = "df /dev/shm inside the container while it runs; look at the kernel's log";
        return;
      }
      if (claim.cause != Cause::shm_full) claim.become(Cause::shm_full, "shared_memory");
      claim.confidence = Confidence::high;
      claim.culprits = {{CulpritKind::file, "/dev/shm"}};
      claim.what = fmt::format("shared memory is full ({:.0f} MB in all)",
                               space.size.value_or(0) / (1024.0 * 1024));
    }
    if (claim.cause == Cause::shm_full && claim.culprits.empty()) {
      claim.culprits = {{CulpritKind::file, "/dev/shm"}};
    }
  }
}

// ---- Room that a plan wants ------------------------------------------------------------------

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr Unit kUnits[] = {
    {"tib", 1024.0 * 1024 * 1024 * 1024},
    {"gib", 1024.0 * 1024 * 1024},
    {"mib", 1024.0 * 1024},
    {"tb", 1e12},
    {"gb", 1e9},
    {"mb", 1e6},
    {"bytes", 1},
};

// Bytes of a setting whose unit stands behind its name or its number; absent: no such setting.
std::optional<double> bytes_of(const Setting& setting) {
  const std::string name = to_lower(setting.name);
  std::string value = to_lower(trim(setting.value));
  double scale = 0;
  for (const Unit& unit : kUnits) {
    if (scale == 0 && value.ends_with(unit.name)) {
      scale = unit.bytes;
      value.resize(value.size() - unit.name.size());
    }
  }
  for (const Unit& unit : kUnits) {
    if (scale == 0 && name.ends_with("_" + std::string(unit.name))) scale = unit.bytes;
  }
  const auto number = parse_double(trim(value));
  if (scale == 0 || !number || *number < 0) return std::nullopt;
  return *number * scale;
}

struct Plan {
  std::string folder, host;
  std::optional<double> headroom, save;
  double kept = 1;
  std::vector<std::size_t> facts;
};

std::vector<Plan> plans_of(const Scene& scene) {
  std::vector<Plan> plans;
  std::vector<std::string> sources;
  for (const FactRef& ref : all_facts<Setting>(scene)) {
    const auto& setting = std::get<Setting>(ref.fact->value);
    const std::string name = to_lower(setting.name);
    const bool checkpoint = name.find("checkpoint") != name.npos ||
                            name.find("ckpt") != name.npos || name.find("save") != name.npos;
    const bool folder = name.ends_with("dir") || name.ends_with("path") || name.ends_with("folder");
    const bool wanted = name.find("headroom") != name.npos || name.find("min_free") != name.npos;
    const bool kept = name == "keep" || name == "keep_last" || name == "save_total_limit";
    const bool size = checkpoint && name.find("size") != name.npos;
    if (!(checkpoint && folder) && !wanted && !kept && !size) continue;
    auto at = std::find(sources.begin(), sources.end(), ref.fact->source);
    if (at == sources.end()) {
      sources.push_back(ref.fact->source);
      plans.push_back(
          {.folder = "", .host = ref.fact->host, .headroom = {}, .save = {}, .facts = {}});
      at = sources.end() - 1;
    }
    Plan& plan = plans[static_cast<std::size_t>(at - sources.begin())];
    plan.facts.push_back(ref.index);
    if (wanted) plan.headroom = bytes_of(setting);
    if (size) plan.save = bytes_of(setting);
    if (kept) plan.kept = parse_double(setting.value).value_or(1);
    if (checkpoint && folder) plan.folder = setting.value;
  }
  return plans;
}

void headroom_of_plan(const Scene& scene, std::vector<Claim>& claims) {
  for (const Plan& plan : plans_of(scene)) {
    std::size_t index = 0;
    const DiskSpace* space =
        plan.folder.empty() ? nullptr : mount_of(scene, plan.host, plan.folder, false, index);
    if (space == nullptr || !space->avail) continue;
    std::optional<double> wanted = plan.headroom;
    // What is kept and one more that is being written.
    if (!wanted && plan.save) wanted = *plan.save * (plan.kept + 1);
    // What is kept already lies on the disk as far as it is used: only the rest is missing.
    if (!plan.headroom && wanted && space->used) wanted = plan.save;
    if (!wanted || *space->avail >= *wanted) continue;
    Claim claim;
    claim.cause = Cause::disk_headroom_low;
    claim.facts = plan.facts;
    claim.facts.insert(claim.facts.begin(), index);
    claim.culprits = {{CulpritKind::file, space->mount}};
    claim.what = fmt::format("{:.0f} GB are free on {}, the plan wants {:.0f} GB",
                             *space->avail / 1e9, space->mount, *wanted / 1e9);
    // `df -h` rounds, and GB may mean GiB.
    if (*space->avail + space->block_bytes >= *wanted * 0.93) claim.confidence = Confidence::medium;
    claim.actions = {Action::refuse_launch, Action::free_disk};
    claim.next = fmt::format("free at least {:.0f} GB there or choose another folder",
                             (*wanted - *space->avail) / 1e9);
    claim.join = "headroom_of_plan";
    claims.push_back(std::move(claim));
  }
}

constexpr Join kJoins[] = {
    {"resource_limit", "a failure for want of locked memory or files; the limits of the process",
     "the limit is too low, or it is not the reason", resource_limit},
    {"disk_room", "a write that failed for want of room; df and df -i of its mount",
     "no bytes, no inodes, or room enough", disk_room},
    {"shared_memory", "a bus error or full shared memory; df of /dev/shm",
     "shared memory is full, or not", shared_memory},
    {"headroom_of_plan", "the plan of a run; df of its folder of checkpoints",
     "less is free than the plan wants", headroom_of_plan},
};

}  // namespace

std::span<const Join> limit_joins() {
  return kJoins;
}

}  // namespace muster
