#include <gtest/gtest.h>

#include "core/explain/explain_test_kit.h"

namespace muster {
namespace {

void lost(Pile& p, std::string gpu) {
  GpuState state;
  state.gpu = std::move(gpu);
  state.name = "Unable to determine the device handle";
  state.value = "Unknown Error";
  p.fact(state);
}
void port_error(Pile& p, std::string pci) {
  p.line("pcie_error", undetermined, EventRole::confirmation, "AER: Corrected error")
      .word("pci", std::move(pci))
      .word("grade", "corrected");
}

TEST(GpuJoins, GpusThatAreLost) {
  run({
      {"corrected errors alone",
       [](Pile& p) {
         port_error(p, "0000:5d:01.0");
         p.fact(PciBridge{"0000:5d:01.0", "0000:5e:00.0", "AD102"});
       },
       "", ""},
      {"no handle, no errors", [](Pile& p) { lost(p, "0000:5e:00.0"); }, "gpu_fell_off_bus",
       "gpu:0000:5e:00.0", kCritical, kMedium, kMedium},
      {"errors of the port of another",
       [](Pile& p) {
         lost(p, "0000:5e:00.0");
         port_error(p, "0000:5d:03.0");
         p.fact(PciBridge{"0000:5d:01.0", "0000:5e:00.0", "AD102"});
         p.fact(PciBridge{"0000:5d:03.0", "0000:05:00.0", "NIC"});
       },
       "gpu_fell_off_bus", "gpu:0000:5e:00.0", kCritical, kMedium, kMedium},
      {"one corrected error of its port",
       [](Pile& p) {
         lost(p, "0000:5e:00.0");
         port_error(p, "0000:5d:01.0");
         p.fact(PciBridge{"0000:5d:01.0", "0000:5e:00.0", "AD102"});
       },
       "gpu_fell_off_bus", "gpu:0000:5e:00.0", kCritical, kMedium, kMedium},
      {"errors of its port",
       [](Pile& p) {
         lost(p, "00000000:5e:00.0");
         port_error(p, "0000:5d:01.0");
         port_error(p, "0000:5d:01.0");
         p.fact(PciBridge{"0000:5d:01.0", "0000:5e:00.0", "AD102"});
         p.cascade("gloo timed out");
       },
       "gpu_fell_off_bus", "gpu:0000:5e:00.0", kCritical, kHigh},
      {"a dead firmware, and then no handle",
       [](Pile& p) {
         p.xid(119, gpu_firmware_hang, "0000:5e:00");
         lost(p, "0000:5e:00.0");
       },
       "gpu_firmware_hang", "gpu:0000:5e:00.0", kCritical, kHigh},
      {"no handle, as a line of a log",
       [](Pile& p) {
         p.line("no_handle", gpu_fell_off_bus, EventRole::confirmation).word("pci", "0000:5e:00.0");
         p.timeout(0, 1800);
       },
       "gpu_fell_off_bus", "gpu:0000:5e:00.0", kCritical, kMedium, kMedium},
      {"Xid 79 of the same GPU",
       [](Pile& p) {
         p.xid(79, gpu_fell_off_bus, "0000:5e:00");
         lost(p, "0000:5e:00.0");
       },
       "gpu_fell_off_bus", "gpu:0000:5e:00.0", kCritical, kHigh},
  });
}

void lost_on(Pile& p, const std::string& host, std::string gpu) {
  p.source = "kern." + host;
  p.line("no_handle", gpu_fell_off_bus, EventRole::confirmation)
      .word("pci", std::move(gpu))
      .host(host)
      .at(5000);
}
void port_errors_on(Pile& p, const std::string& host, double at) {
  p.source = "kern." + host;
  for (int i = 0; i < 3; ++i) {
    p.line("pcie_error", undetermined, EventRole::confirmation, "AER: Corrected error")
        .word("pci", "0000:5d:01.0")
        .word("grade", "corrected")
        .host(host)
        .at(at + i);
  }
}

TEST(GpuJoins, AddressesAreThoseOfAHost) {
  const PciBridge behind{"0000:5d:01.0", "0000:5e:00.0", "GP102"};
  const auto failed = [](Pile& p, std::string gpu, std::string host) {
    p.fact(GpuState{std::move(gpu), "Remapping Failure Occurred", "Yes"}, std::move(host));
  };
  run({
      {"errors of the same port elsewhere",
       [=](Pile& p) {
         port_errors_on(p, "a7", 4900);
         lost_on(p, "a8", "0000:5e:00.0");
         p.fact(behind, "a8");
       },
       "gpu_fell_off_bus", "gpu:a8/0000:5e:00.0", kCritical, kMedium, kMedium},
      {"errors of long before",
       [=](Pile& p) {
         port_errors_on(p, "a8", 100);
         lost_on(p, "a8", "0000:5e:00.0");
         p.fact(behind, "a8");
       },
       "gpu_fell_off_bus", "gpu:a8/0000:5e:00.0", kCritical, kMedium, kMedium},
      {"errors behind the loss",
       [=](Pile& p) {
         lost_on(p, "a8", "0000:5e:00.0");
         port_errors_on(p, "a8", 5100);
         p.fact(behind, "a8");
       },
       "gpu_fell_off_bus", "gpu:a8/0000:5e:00.0", kCritical, kMedium, kMedium},
      {"errors just before",
       [=](Pile& p) {
         port_errors_on(p, "a8", 4900);
         lost_on(p, "a8", "0000:5e:00.0");
         p.fact(behind, "a8");
       },
       "gpu_fell_off_bus", "gpu:a8/0000:5e:00.0", kCritical, kHigh},
      {"one that fell off elsewhere takes no other with it",
       [](Pile& p) {
         p.xid(79, gpu_fell_off_bus, "0000:5e:00").host("a7").at(100);
         lost_on(p, "a8", "0000:09:00.0");
       },
       "gpu_fell_off_bus", "gpu:a7/0000:5e:00.0", kCritical},
      {"a remap that failed elsewhere",
       [=](Pile& p) {
         p.xid(94, ecc_contained, "0000:4f:00").host("a7").at(1);
         failed(p, "0000:4f:00.0", "a8");
       },
       "ecc_contained", "gpu:a7/0000:4f:00.0", kWarning, kMedium},
      {"a remap that failed, and another GPU that is worn out",
       [=](Pile& p) {
         p.xid(64, gpu_memory_worn_out, "0000:87:00").host("a7").at(1);
         failed(p, "0000:4f:00.0", "a7");
       },
       "gpu_memory_worn_out", "gpu:a7/0000:87:00.0", kCritical},
  });
}

TEST(GpuJoins, NvlinksHaveTwoEnds) {
  run({
      {"nonfatal",
       [](Pile& p) {
         p.xid(145, nvlink_nonfatal, "0000:e6:00", EventRole::root).host("n1").severity(kInfo);
       },
       "nvlink_nonfatal", "", kInfo},
      {"first of a host",
       [](Pile& p) {
         p.xid(149, nvlink_down, "0000:d4:00").host("n1").at(10);
         p.xid(145, nvlink_nonfatal, "0000:e6:00").host("n1").at(10).severity(kInfo);
         p.xid(45, benign_cleanup_xid, "0000:e6:00", EventRole::benign).host("n1").at(11);
       },
       "nvlink_down", "gpu:n1/0000:d4:00.0", kCritical, kHigh},
      {"two in order",
       [](Pile& p) {
         p.xid(149, nvlink_down, "0000:d4:00").host("n1").at(10);
         p.xid(149, nvlink_down, "0000:e6:00").host("n1").at(14);
       },
       "nvlink_down", "gpu:n1/0000:d4:00.0", kCritical, kHigh},
      {"on two hosts",
       [](Pile& p) {
         p.xid(149, nvlink_down, "0000:d4:00").host("n1").at(10);
         p.source = "other";
         p.xid(149, nvlink_down, "0000:e6:00").host("n2").at(10);
       },
       "nvlink_down", "gpu:n1/0000:d4:00.0 gpu:n2/0000:e6:00.0", kCritical, kMedium, kMedium},
  });
}

void fault(Pile& p, std::string host, std::string pci, std::string program, int pid,
           std::string text = "MMU Fault: GPCCLIENT_T1_3") {
  p.line("xid", app_memory_fault, EventRole::root, std::move(text))
      .word("code", "31")
      .word("pci", std::move(pci))
      .word("process", std::move(program))
      .host(std::move(host))
      .pid(pid);
}

TEST(GpuJoins, FaultsOfPrograms) {
  run({
      {"one", [](Pile& p) { fault(p, "n1", "0000:c2:00", "python3", 41); }, "app_memory_fault",
       "process:41", kInfo},
      {"twice on one GPU",
       [](Pile& p) {
         fault(p, "n1", "0000:c2:00", "python3", 41);
         fault(p, "n1", "0000:c2:00", "python3", 42);
       },
       "app_memory_fault", "process:41", kInfo},
      {"two programs on two GPUs",
       [](Pile& p) {
         fault(p, "n1", "0000:c2:00", "a.out", 41);
         fault(p, "n1", "0000:c3:00", "b.out", 42);
       },
       "app_memory_fault", "process:41", kInfo},
      {"one program on two GPUs",
       [](Pile& p) {
         fault(p, "n1", "0000:c2:00", "folder", 41);
         fault(p, "n2", "0000:c2:00", "folder", 42);
       },
       "app_memory_fault", "process:folder", kWarning},
      {"clients that nobody knows",
       [](Pile& p) {
         p.line("xid", app_memory_fault, EventRole::root, "Graphics Exception")
             .word("code", "13")
             .word("pci", "0000:1b:00")
             .at(10);
         fault(p, "", "0000:9b:00", "python3", 41, "MMU Fault: UNRECOGNIZED_CLIENT");
         fault(p, "", "0000:f1:00", "python3", 42, "MMU Fault: UNRECOGNIZED_CLIENT");
       },
       "app_memory_fault", "process:@0000:1b:00.0", kCritical},
      {"one, and ranks that gave up behind it",
       [](Pile& p) {
         p.line("xid", app_memory_fault, EventRole::root, "MMU Fault")
             .word("pci", "0000:c2:00")
             .at(10)
             .pid(41)
             .host("n1");
         p.timeouts(0, 3, 700);
       },
       "app_memory_fault", "process:41", kWarning},
  });
}

TEST(GpuJoins, FaultsThatRanksTell) {
  run({
      {"an exception of the rank, and ranks that gave up",
       [](Pile& p) {
         p.root(rank_exception, "CUDA error: an illegal memory access was encountered").rank(2);
         p.timeout(0, 700);
         p.source = "dmesg";
         p.xid(31, app_memory_fault, "0000:3b:00").pid(4411).at(80);
       },
       "rank_exception", "rank:2", kCritical, kHigh},
      {"the rank says so itself",
       [](Pile& p) {
         fault(p, "n1", "0000:c2:00", "python3", 41);
         p.root(app_memory_fault, "CUDA error: an illegal memory access").rank(3);
         p.timeouts(0, 2, 700);
       },
       "rank_exception", "rank:3", kCritical, kHigh},
      {"an exception of the rank",
       [](Pile& p) {
         fault(p, "n1", "0000:c2:00", "python3", 41);
         p.root(rank_exception, "CUDA error: an illegal memory access").rank(3).host("n1");
       },
       "rank_exception", "rank:3", kCritical},
  });
}

TEST(GpuJoins, MemoryOfGpus) {
  const auto remap = [](std::string value, std::string gpu = "") {
    return GpuState{std::move(gpu), "Remapping Failure Occurred", std::move(value)};
  };
  run({
      {"contained",
       [](Pile& p) {
         p.xid(94, ecc_contained, "0000:4f:00");
         p.xid(63, undetermined, "0000:4f:00", EventRole::confirmation);
       },
       "ecc_contained", "gpu:0000:4f:00.0", kWarning, kHigh},
      {"contained, remap is fine",
       [=](Pile& p) {
         p.xid(94, ecc_contained, "0000:4f:00");
         p.fact(remap("No"));
       },
       "ecc_contained", "gpu:0000:4f:00.0", kWarning, kHigh},
      {"remap failed on another GPU",
       [=](Pile& p) {
         p.xid(94, ecc_contained, "0000:4f:00").at(1);
         p.fact(remap("Yes", "0000:50:00.0"));
       },
       "ecc_contained", "gpu:0000:4f:00.0", kWarning, kMedium},
      {"remap failed",
       [=](Pile& p) {
         p.xid(48, ecc_uncorrectable, "0000:87:00");
         p.fact(remap("Yes"));
       },
       "gpu_memory_worn_out", "gpu:0000:87:00.0", kCritical, kHigh},
      {"remap failed, by Xid",
       [=](Pile& p) {
         p.xid(64, gpu_memory_worn_out, "0000:87:00");
         p.fact(remap("Yes"));
       },
       "gpu_memory_worn_out", "gpu:0000:87:00.0", kCritical, kHigh},
      {"contained, then not",
       [](Pile& p) {
         p.xid(94, ecc_contained, "0000:4f:00").at(1);
         p.xid(95, ecc_uncorrectable, "0000:4f:00").at(9);
       },
       "ecc_uncorrectable", "gpu:0000:4f:00.0", kCritical, kHigh},
  });
}

TEST(GpuJoins, DriversAndFabric) {
  const auto bind = [](Pile& p, std::string text, EventRole role) {
    p.line("nvls", nvswitch_not_set_up, role, std::move(text)).host("n8");
  };
  const auto manager = [](bool active) {
    return ServiceState{"nvidia-fabricmanager", active,
                        active ? "active (running)" : "inactive (dead)"};
  };
  run({
      {"versions agree",
       [](Pile& p) {
         p.fact(DriverVersion{true, "535.216.03"});
         p.fact(DriverVersion{false, "535.216"});
       },
       "", ""},
      {"of two hosts",
       [](Pile& p) {
         p.fact(DriverVersion{true, "535.216.03"}, "n1");
         p.fact(DriverVersion{false, "550.90"}, "n2");
       },
       "", ""},
      {"a package that is none of the driver",
       [](Pile& p) { p.fact(PackageChange{"vim", "1", "2", "apt"}); }, "", ""},
      {"versions differ",
       [](Pile& p) {
         p.fact(DriverVersion{true, "535.183.06"});
         p.fact(DriverVersion{false, "535.216"});
         p.fact(PackageChange{"libnvidia-compute-535", "535.183.06", "535.216.03", "upgrade"});
       },
       "driver_library_mismatch", "host:this", kCritical, kHigh},
      {"went on without",
       [=](Pile& p) {
         bind(p, "Failed to bind. Proceeding without NVLS", EventRole::confirmation);
       },
       "nvswitch_not_set_up", "host:n8", kInfo},
      {"went on without, told as root",
       [=](Pile& p) { bind(p, "Failed to bind. Proceeding without NVLS", EventRole::root); },
       "nvswitch_not_set_up", "host:n8", kInfo},
      {"failed, manager runs",
       [=](Pile& p) {
         bind(p, "Failed to bind", EventRole::root);
         p.fact(manager(true));
       },
       "nvswitch_not_set_up", "host:n8", kCritical, kMedium, kMedium},
      {"failed, manager of another host",
       [=](Pile& p) {
         bind(p, "Failed to bind", EventRole::root);
         p.fact(manager(false), "n9");
       },
       "nvswitch_not_set_up", "host:n8", kCritical, kMedium, kMedium},
      {"failed, no manager",
       [=](Pile& p) {
         bind(p, "Failed to bind", EventRole::root);
         p.fact(manager(false));
       },
       "nvswitch_not_set_up", "host:n8", kCritical, kHigh},
  });
}

TEST(GpuJoins, FirmwareOfSeveralHosts) {
  run({{"all of them",
        [](Pile& p) {
          for (int i = 1; i <= 4; ++i) {
            p.xid(119, gpu_firmware_hang, "0000:61:00").host("n" + std::to_string(i)).at(i);
          }
        },
        "gpu_firmware_hang",
        "gpu:n1/0000:61:00.0 gpu:n2/0000:61:00.0 gpu:n3/0000:61:00.0 gpu:n4/0000:61:00.0"}});
}

TEST(GpuJoins, CleaningUp) {
  const auto end = [](Pile& p, std::string pci, const std::string& why = "") {
    Line line = p.xid(45, benign_cleanup_xid, std::move(pci), EventRole::benign).host("n1").at(30);
    if (!why.empty()) line.word("caused_by", why);
  };
  JobRecord job;
  job.id = "77";
  job.state = "CANCELLED by 1000";
  job.by = "1000";
  run({
      {"alone",
       [=](Pile& p) {
         end(p, "0000:01:00");
         end(p, "0000:02:00");
       },
       "benign_cleanup_xid", "", kOk, kMedium, kMedium},
      {"after a cancel",
       [=](Pile& p) {
         end(p, "0000:01:00");
         p.fact(job);
       },
       "benign_cleanup_xid", "", kOk, kHigh},
      {"a cancel of another job, days before",
       [=](Pile& p) {
         p.context("last_step").rank(0).at(20);
         end(p, "0000:01:00");
         JobRecord other = job;
         other.start = WallTime(std::chrono::hours(24 * 19'000));
         other.end = WallTime(std::chrono::hours(24 * 19'001));
         p.fact(other);
       },
       "benign_cleanup_xid", "", kOk, kMedium, kMedium},
      {"its reason is not in the log", [=](Pile& p) { end(p, "0000:01:00", "149"); },
       "evidence_missing", "", kInfo, kLow, kLow},
      {"behind a lost GPU",
       [=](Pile& p) {
         p.xid(79, gpu_fell_off_bus, "0000:01:00").host("n1").at(20);
         end(p, "0000:02:00");
       },
       "gpu_fell_off_bus", "gpu:n1/0000:01:00.0", kCritical, kHigh},
      {"noise",
       [](Pile& p) {
         p.line("driver_noise", harmless_message, EventRole::benign);
         p.line("sxid", harmless_message, EventRole::benign);
       },
       "harmless_message", "", kOk},
  });
}

}  // namespace
}  // namespace muster
