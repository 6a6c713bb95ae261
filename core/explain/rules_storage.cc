#include "core/explain/rule_row.h"

// File systems, as programs and their daemons meet them. What the kernel writes is read elsewhere.

namespace muster {
namespace {

using enum EventRole;
using A = Action;
using C = Cause;
using K = CulpritKind;

// The file, as Python and as shell tools write it.
#define QUOTED R"(: '(?P<path>[^']{1,400})')"

constexpr RuleRow kRows[] = {
    RuleRow{"disk_full_file", "No space left on device", "No space left on device" QUOTED,
            C::disk_full, root, K::file, "{path}", "no room (or no inode) left for {path}",
            "look at df and df -i of that file system and free some", A::free_disk,
            A::restart_from_checkpoint},
    RuleRow{
        "disk_full_tool", "No space left on device",
        R"((?:writing|write error|open|create)\D{0,20}['"` ](?P<path>/[^'":` ]{1,400})['"`]?: No )"
        R"(space left on device)",
        C::disk_full, root, K::file, "{path}", "no room (or no inode) left for {path}",
        "look at df and df -i of that file system and free some", A::free_disk,
        A::restart_from_checkpoint},
    RuleRow{"disk_full", "No space left on device", "No space left on device", C::disk_full, root,
            K::none, "", "a file system has no room (or no inode) left",
            "look at df and df -i of the file systems that the run writes to", A::free_disk,
            A::restart_from_checkpoint},
    RuleRow{"quota_file", "isk quota exceeded", "[dD]isk quota exceeded" QUOTED,
            C::storage_write_error, root, K::file, "{path}", "the quota for {path} is used up",
            "free some, or ask for more quota", A::free_disk, A::restart_from_checkpoint},
    RuleRow{"quota", "isk quota exceeded", "[dD]isk quota exceeded", C::storage_write_error, root,
            K::none, "", "a quota is used up", "free some, or ask for more quota", A::free_disk,
            A::restart_from_checkpoint},
    RuleRow{"stale_handle", "tale file handle", "[sS]tale file handle(?:" QUOTED ")?",
            C::undetermined, root, K::file, "{path}",
            "a file was replaced or its server forgot it (stale handle)",
            "mount the file system again; see who changed the file", A::repair_storage,
            A::restart_from_checkpoint, Severity::critical},
    RuleRow{"io_error_file", "nput/output error", "[iI]nput/output error" QUOTED, C::undetermined,
            root, K::file, "{path}", "reading or writing {path} failed in the storage below",
            "look at the kernel log of the host and at the file server", A::repair_storage,
            A::restart_from_checkpoint, Severity::critical},
    RuleRow{"io_error", "nput/output error", "[iI]nput/output error(?:[^s]|$)", C::undetermined,
            root, K::none, "", "reading or writing failed in the storage below",
            "look at the kernel log of the host and at the file server", A::repair_storage,
            A::restart_from_checkpoint, Severity::critical},
    RuleRow{"read_only", "ead-only file system", "[rR]ead-only file system(?:" QUOTED ")?",
            C::undetermined, root, K::file, "{path}", "a file system takes no writes",
            "look in the kernel log why it was remounted, or correct the mount of the container",
            A::repair_storage, A::fix_config, Severity::critical},
    // Lustre evicted the client; FUSE lost its daemon.
    RuleRow{"endpoint_shutdown", "ransport endpoint",
            R"((?:send after transport endpoint shutdown|[tT]ransport endpoint is not connected))",
            C::storage_server_lost, root, K::none, "", "the mount lost its server",
            "mount it again; see why the server dropped this host", A::repair_storage,
            A::restart_from_checkpoint},
    RuleRow{"file_timed_out", "[Errno 110]", R"(\[Errno 110\] Connection timed out)" QUOTED,
            C::storage_server_lost, root, K::file, "{path}", "the server of {path} did not answer",
            "look at the file server and its network", A::repair_storage,
            A::restart_from_checkpoint},
    RuleRow{"lustre_evicted", "was evicted by",
            R"(This client was evicted by (?P<server>[\w.@-]{1,255}))", C::storage_server_lost,
            root, K::host, "{server}", "{server} dropped this client",
            "look at the network between them, then at the server", A::repair_storage,
            A::restart_from_checkpoint},
    RuleRow{"lustre_failed", "LustreError: ",
            R"(LustreError: .*operation (?P<operation>\w+) to node (?P<server>\S{1,255}) faile)"
            R"(d: rc = -)"
            R"((?:107|108|110|5))",
            C::storage_server_lost, confirmation, K::host, "{server}",
            "{server} did not take {operation}", "look at that server", A::repair_storage},
    RuleRow{"gpfs_left", "membership in cluster", "Lost membership in cluster",
            C::storage_server_lost, root, K::none, "", "this host lost the GPFS cluster",
            "look at its network to the quorum nodes", A::repair_storage,
            A::restart_from_checkpoint},
    RuleRow{"gpfs_lease", "isk lease", "[dD]isk lease (?:period )?(?:expired|overdue)",
            C::storage_server_lost, root, K::none, "", "this host lost the GPFS cluster",
            "look at its network to the quorum nodes", A::repair_storage,
            A::restart_from_checkpoint},
    RuleRow{"ceph_hung", "ceph: mds",
            R"(ceph: (?P<server>mds\d{1,4}) (?:hung|caps stale|reconnect denied))",
            C::storage_server_lost, root, K::host, "{server}", "{server} of CephFS does not answer",
            "look at the metadata server", A::repair_storage, A::restart_from_checkpoint},
    RuleRow{"mount_failed", "mount.nfs", R"(mount\.nfs4?: (?P<what>.{1,160}))", C::undetermined,
            root, K::none, "", "a file system could not be mounted: {what}",
            "look at the server and its exports", A::repair_storage, A::fix_config,
            Severity::critical},
    RuleRow{"object_store_slow", "SlowDown", R"(\((?:SlowDown|ServiceUnavailable|503)\))",
            C::data_starvation, confirmation, K::none, "",
            "the object store asks for fewer requests", "use fewer readers or larger objects",
            A::speed_up_input},
    RuleRow{"no_permission", "ermission denied: '", "[pP]ermission denied" QUOTED,
            C::rank_exception, root, K::file, "{path}", "no right to use {path}",
            "correct owner and mode on all nodes", A::fix_config, A::restart_from_checkpoint},
    RuleRow{"no_such_file", "No such file or directory: '", "FileNotFoundError: .*directory" QUOTED,
            C::rank_exception, root, K::file, "{path}", "{path} is not there",
            "see whether it is on storage that all nodes share, and mounted", A::fix_config,
            A::repair_storage},
    RuleRow{"file_exists", "FileExistsError: ",
            R"(FileExistsError: .{0,80}'(?P<path>[^']{1,400})')", C::rank_exception, root, K::file,
            "{path}", "{path} was there already", "let one rank make it", A::fix_code},
};

#undef QUOTED

}  // namespace

std::span<const RuleRow> storage_rules() {
  return kRows;
}

}  // namespace muster
