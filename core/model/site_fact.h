#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"

// What the tools of a site print about its hosts, jobs and settings, beside the logs: df, ulimit,
// systemctl, sacct, show_gids. core/site/ reads them; they decide what a line of a log left open.
// A field that the text does not have is absent, never zero.

namespace muster {

struct DiskSpace {  // df, df -i
  std::string mount;
  std::string device;
  bool inodes = false;                      // counts of inodes, else bytes
  std::optional<double> size, used, avail;  // as printed, in bytes or pieces
  double block_bytes = 1;                   // how exact the printed numbers are
};

struct ResourceLimit {               // ulimit -a, /proc/PID/limits
  std::string name;                  // "nofile", "memlock", otherwise as printed
  std::optional<double> soft, hard;  // in the unit below; absent beside `unlimited`: not told
  bool soft_unlimited = false, hard_unlimited = false;
  std::string unit;  // "files", "bytes"
};

struct ServiceState {  // systemctl status, systemctl is-active
  std::string name;    // "nvidia-fabricmanager"
  bool active = false;
  std::string state;  // "inactive (dead)"
};

struct GidEntry {  // show_gids, ibv_devinfo
  std::string device;
  int port = 0, index = 0;
  std::string gid;   // as printed
  std::string ipv4;  // empty: none
  std::string type;  // "v1", "v2"
};

struct Setting {      // NAME=VALUE of an environment, a plan, a job script, a configuration
  std::string name;   // as written, without "export", "#SBATCH --", quotes
  std::string value;  // without quotes
};

struct HostAddress {  // /etc/hosts and notes of its kind
  std::string address;
  std::string host;
};

struct RankPlace {  // notes that map ranks to hosts and GPUs
  std::int32_t first = 0, last = 0;
  std::string host;
  std::string pci;  // empty: not told; otherwise first == last
};

struct PciBridge {     // lspci -t: what stands behind a port
  std::string port;    // "0000:5d:01.0"
  std::string device;  // "0000:5e:00.0"
  std::string name;    // "NVIDIA Corporation AD102"
};

struct FolderEntry {  // ls -l, ls -lR, find -ls, tree
  std::string path;   // whole path where the listing tells its folder
  char kind = '-';    // '-', 'd', 'l' as ls has them
  std::optional<std::uint64_t> size_bytes;
  std::string target;  // of a link
};

struct ProcessRow {  // ps, top
  std::int64_t pid = 0;
  std::string state;  // "Dl"
  std::string wait;   // WCHAN; empty: not told
  std::string command;
};

struct NodeState {    // scontrol show node, sinfo -R, kubectl get nodes
  std::string host;   // or a bracketed list
  std::string state;  // "IDLE+DRAIN"
  std::string reason;
};

struct JobRecord {  // sacct, squeue, scontrol show job
  std::string id;   // "730218", "730218.0"
  std::string name;
  std::string state;  // first word: "CANCELLED"
  std::string by;     // "CANCELLED by 1044": "1044"
  std::optional<int> exit_code, exit_signal;
  std::optional<Duration> elapsed, limit;
  std::optional<WallTime> start, end;  // local time of the site
  std::vector<std::string> hosts;      // written out; bounded
};

struct Listener {  // ss -l, netstat -l, lsof -i
  int port = 0;
  std::string process;
  std::optional<std::int64_t> pid;
};

struct PackageChange {  // apt and dpkg history, yum history
  std::string package;
  std::string from, to;  // versions
  std::string command;   // "/usr/bin/unattended-upgrade"
};

// /proc/driver/nvidia/version, nvidia-smi, NVML's complaint, a table of hosts.
struct DriverVersion {
  bool kernel = false;  // the loaded module; else the library
  std::string version;
};

struct PortCounter {  // counters of an adapter's port before and after
  std::string device;
  std::optional<int> port;
  std::string name;  // "symbol_error"
  double before = 0, after = 0;
};

struct GpuState {    // nvidia-smi -q and its complaints
  std::string gpu;   // PCI address, index or UUID; empty: not told
  std::string name;  // "Remapping Failure Occurred"
  std::string value;
};

struct BadRecord {  // a data file whose records were checked line by line
  std::uint64_t record_line = 0;
  std::string reason;
};

struct TrialRun {  // a row of a table of test runs: who took part and how it ended
  std::string name;
  std::vector<std::string> hosts;
  std::vector<std::string> groups;  // of what the hosts hang on: "71" under "leaf_groups"
  std::string group_key;            // "leaf_groups"; empty: the table has no such column
  bool failed = false;              // by the words of its result: hang, fail, error, crash
  std::string result;
};

using SiteValue =
    std::variant<DiskSpace, ResourceLimit, ServiceState, GidEntry, Setting, HostAddress, RankPlace,
                 PciBridge, FolderEntry, ProcessRow, NodeState, JobRecord, Listener, PackageChange,
                 DriverVersion, PortCounter, GpuState, BadRecord, TrialRun>;

struct SiteFact {
  SiteValue value;
  std::string host;    // empty: the text does not name it
  std::string source;  // file
  std::optional<std::uint64_t> line;
  std::string text;  // the line, at most limits::kEvidenceChars bytes
};

}  // namespace muster
