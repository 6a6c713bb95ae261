#include "core/telemetry/decoder.h"

#include <gtest/gtest.h>

#include "tests/support/decode_text.h"

namespace muster {
namespace {

struct Head {
  const char* name;
  std::string_view text;
  Dialect dialect;
};

constexpr Head kHeads[] = {
    {"query", "timestamp, power.draw [W]\n2025/07/26 23:32:09.703, 69.32 W\n", Dialect::nvsmi_csv},
    {"query_bom", "\xef\xbb\xbfindex, power.draw [W]\r\n0, 1 W\r\n", Dialect::nvsmi_csv},
    {"query_semicolon", "timestamp;power.draw [W]\n", Dialect::nvsmi_csv},
    {"query_noheader", "2025/07/26 23:32:09.703, 97 %, 69.32 W\n", Dialect::nvsmi_csv},
    {"query_behind_lost_gpu",
     "Unable to determine the device handle for GPU3: 0000:5e:00.0: Unknown Error\n"
     "index, power.draw [W]\n0, 1 W\n",
     Dialect::nvsmi_csv},
    {"dmon", "# gpu    pwr  gtemp\n# Idx      W      C\n    0     77     28\n",
     Dialect::nvsmi_dmon},
    {"dmon_dated", "#Date       Time        gpu   pwr\n", Dialect::nvsmi_dmon},
    {"dmon_behind_prompt", "$ nvidia-smi dmon\n# gpu    pwr\n", Dialect::nvsmi_dmon},
    {"pmon", "# gpu         pid   type     sm    command\n", Dialect::nvsmi_pmon},
    {"dcgmi", "#Entity   POWER  GPUTL\nID\nGPU 0  1 2\n", Dialect::dcgmi_dmon},
    {"dcgmi_old", "# Entity  POWER\n      Id\n", Dialect::dcgmi_dmon},
    {"table", "time_ms,node,power_w\n0,n1,5000\n", Dialect::table_csv},
    {"no_devices", "No devices were found\n", Dialect::nvsmi_list},
    {"mismatch", "Failed to initialize NVML: Driver/library version mismatch\n",
     Dialect::nvsmi_list},
    {"no_driver",
     "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
     "Make sure that the latest NVIDIA driver is installed and running.\n",
     Dialect::nvsmi_list},
    {"empty", "", Dialect::unknown},
    {"blank", "\n\n", Dialect::unknown},
    {"nul", std::string_view("\0\0\0\0", 4), Dialect::unknown},
    {"prose", "the GPU is lost in thought\n# gpu notes\n", Dialect::unknown},
    {"kernel_log", "[  12.5] NVRM: GPU is lost.\n", Dialect::unknown},
    {"python_log", "2026-08-01 10:00:00 ERROR No devices were found\n", Dialect::unknown},
    {"step_log", "step 5/100 loss 2.1 tok/s 53012\n", Dialect::unknown},
    {"comment", "# a gpu and its pid\n", Dialect::unknown},
    {"other_csv", "name,age\nbob,7\n", Dialect::unknown},
};

TEST(Decoder, RecognisesByContent) {
  for (const Head& head : kHeads) {
    EXPECT_EQ(dialect_name(recognise(head.text)), dialect_name(head.dialect)) << head.name;
  }
}

struct Failure {
  const char* name;
  std::string_view text;
  std::string_view wanted;
};

constexpr Failure kFailures[] = {
    {"no_devices", "No devices were found\n", "note no_devices@1: No devices were found\n"},
    {"mismatch",
     "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.86\n",
     "note driver_mismatch@1: Failed to initialize NVML: Driver/library version mismatch\n"},
    {"cgroup", "Failed to initialize NVML: Unknown Error",
     "note device_access@1: Failed to initialize NVML: Unknown Error\n"},
    {"permission", "Failed to initialize NVML: Insufficient Permissions\r\n",
     "note device_access@1: Failed to initialize NVML: Insufficient Permissions\n"},
    {"not_loaded", "Failed to initialize NVML: Driver Not Loaded\n",
     "note driver_missing@1: Failed to initialize NVML: Driver Not Loaded\n"},
    {"lost_old",
     "Unable to determine the device handle for GPU 0000:18:00.0: GPU is lost.  Reboot the "
     "system to recover this GPU\n",
     "note gpu_lost@1 0000:18:00.0: Unable to determine the device handle for GPU 0000:18:00.0: "
     "GPU is "
     "lost.  Reboot the system to recover this GPU\n"},
    {"bad_field", "Field \"power.drew\" is not a valid field to query.\n",
     "note source_error@1: Field \"power.drew\" is not a valid field to query.\n"},
};

TEST(Decoder, ToolFailures) {
  for (const Failure& failure : kFailures) {
    EXPECT_EQ(dialect_name(recognise(failure.text)), dialect_name(Dialect::nvsmi_list))
        << failure.name;
    EXPECT_EQ(decode_text(Dialect::nvsmi_list, failure.text), failure.wanted) << failure.name;
    expect_holds_under_damage(Dialect::nvsmi_list, failure.text);
  }
}

}  // namespace
}  // namespace muster
