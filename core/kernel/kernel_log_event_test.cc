#include "core/kernel/kernel_log_event.h"

#include <gtest/gtest.h>

#include "core/kernel/kernel_reader.h"

namespace muster {
namespace {

std::string told(const std::string& line) {
  KernelReader reader({.host = "", .written = std::nullopt});
  reader.line(line, 7);
  const KernelReading reading = reader.finish();
  if (reading.events.empty()) return "-";
  const LogEvent event = log_event_of(reading.events[0], "a.log");
  EXPECT_EQ(event.source, "a.log");
  EXPECT_EQ(event.line, 7u);
  EXPECT_FALSE(event.text.empty());
  EXPECT_FALSE(event.meaning.empty());
  std::string out = event.rule + " " + std::string(cause_name(event.cause)) + " " +
                    std::string(event_role_name(event.role)) + " " +
                    std::string(culprit_kind_name(event.subject.kind)) + ":" + event.subject.id;
  for (const auto& [name, word] : event.words) out += " " + name + "=" + word;
  return out;
}

TEST(KernelLogEvent, Table) {
  struct Row {
    const char* name;
    std::string line, gives;
  };
  const Row rows[] = {
      {"no event", "[    5.1] usb 1-1: new device", "-"},
      {"nothing to act on",
       "[5.1] NVRM: Xid (PCI:0000:1b:00): 45, pid=7, name=python3, Ch 00000008",
       "xid benign_cleanup_xid benign gpu:0000:1b:00.0 code=45 pci=0000:1b:00.0 process=python3"},
      {"a GPU without host",
       "[5.1] NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off "
       "the bus.",
       "xid gpu_fell_off_bus root gpu:0000:1b:00.0 code=79 pci=0000:1b:00.0"},
      {"a GPU of a host",
       "Aug  1 10:00:00 k7 kernel: [5.1] NVRM: Xid (PCI:0000:1b:00): 79, pid=1, GPU has fallen off "
       "the bus.",
       "xid gpu_fell_off_bus root gpu:k7/0000:1b:00.0 code=79 pci=0000:1b:00.0"},
      {"advice is no cause",
       "[5.1] NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 "
       "(Node Reboot Required)",
       "xid undetermined confirmation gpu:0000:1b:00.0 code=154 pci=0000:1b:00.0 recovery=2"},
      {"a process without a host",
       "[5.1] Out of memory: Killed process 4242 (python3) total-vm:1kB, anon-rss:1kB, "
       "file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0",
       "oom_kill host_oom_killed root process:4242 process=python3"},
      {"a server", "[5.1] nfs: server stor-3 not responding, still trying",
       "server_lost storage_server_lost root host:stor-3 device=stor-3"},
      {"it is back", "[5.1] nfs: server stor-3 OK",
       "server_back storage_pause_recovered context host:stor-3 device=stor-3"},
      {"corrected", "[5.1] EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0",
       "memory_error undetermined confirmation host:this device=MC0 grade=corrected"},
  };
  for (const Row& row : rows) EXPECT_EQ(told(row.line), row.gives) << row.name;
}

}  // namespace
}  // namespace muster
