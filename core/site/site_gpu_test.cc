#include "core/site/site_test_kit.h"

namespace muster {
namespace {

using namespace site_test;

constexpr Row kRows[] = {
    {"a version that is none", "version.txt", "NVRM version: NVIDIA UNIX Kernel Module  new\n",
     "LOG\n"},
    {"the complaint alone is a line of a log", "smi.txt",
     "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.144\n",
     "LOG\n"},
    {"a table without a driver", "versions.tsv", "host\tcuda\nn01\t12.4\n", "LOG\n"},
    {"/proc/driver/nvidia/version", "proc.txt",
     "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build  "
     "(me@build)\n"
     "GCC version:  gcc version 12.3.0 (Ubuntu)\n",
     "driver kernel 570.86.15\n"},
    {"the library", "nvml.txt", "NVML library version: 550.144\n", "driver library 550.144\n"},
    {"a table of hosts", "versions.tsv",
     "host\tdriver\tcuda\nn01\t535.129.03\t12.4\nn02\tunknown\t\nn03\t550.54.15\t12.4\n",
     "n01: driver kernel 535.129.03\nn03: driver kernel 550.54.15\n"},
    {"by blanks and commas", "versions.txt",
     "node driver_version\nn01 535.129.03\n\nhostname,gpu,driver\nn02,8,550.54.15\n",
     "n01: driver kernel 535.129.03\nn02: driver kernel 550.54.15\n"},

    {"counters of nothing", "counters.txt", "before after\n", "LOG\n"},
    {"words, not counters", "note.txt", "loss 2.1 -> 1.9\nlr 3 => 4x\n", "LOG\n"},
    {"one reading says nothing", "perfquery.txt",
     "# Port counters: Lid 6 port 1 (CapMask: 0x5A00)\nSymbolErrorCounter:..............4\n",
     "LOG\n"},
    {"before and after", "counters_n07.txt",
     "# before -> after, mlx5_2 port 1\nsymbol_error 0 -> 4\nlink_downed: 1 -> 1\nlost 0 -> many\n"
     "port_rcv_errors 7 => 9\n",
     "n07: counter mlx5_2 1 symbol_error 0 4\nn07: counter mlx5_2 1 link_downed 1 1\n"
     "n07: counter mlx5_2 1 port_rcv_errors 7 9\n"},
    {"as a table", "counters.txt",
     "mlx5_0/1\ncounter before after\nsymbol_error 0 4\nmlx5_1:2\nsymbol_error 5 5\n",
     "counter mlx5_0 1 symbol_error 0 4\ncounter mlx5_1 2 symbol_error 5 5\n"},
    {"of several hosts", "counters.txt",
     "# host n07 (rank 1) mlx5_1 before after\npacket_seq_err 3 9\n"
     "# host n08 (rank 2) mlx5_1 before after\npacket_seq_err 0 0\n",
     "n07: counter mlx5_1 - packet_seq_err 3 9\nn08: counter mlx5_1 - packet_seq_err 0 0\n"},
    {"perfquery twice", "perfquery.txt",
     "# Port counters: Lid 6 port 1 (CapMask: 0x5A00)\nPortSelect:......................1\n"
     "CounterSelect:...................0x0000\nSymbolErrorCounter:..............4\n\n"
     "# Port counters: Lid 6 port 1 (CapMask: 0x5A00)\nPortSelect:......................1\n"
     "CounterSelect:...................0x0000\nSymbolErrorCounter:..............9\n",
     "counter lid6 1 PortSelect 1 1\ncounter lid6 1 SymbolErrorCounter 4 9\n"},
    {"rdma twice", "rdma.txt",
     "link mlx5_2/1 rx_write_requests 10 out_of_sequence 0 \n"
     "link mlx5_2/1 rx_write_requests 30 out_of_sequence 7 \n",
     "counter mlx5_2 1 out_of_sequence 0 7\ncounter mlx5_2 1 rx_write_requests 10 30\n"},

    {"a field of no section", "smi_q.txt", "    Some Field     : Yes\n", "LOG\n"},
    {"nvidia-smi -q", "smi_q.txt",
     "==============NVSMI LOG==============\n\nTimestamp    : Fri May  1 10:00:00 2026\n"
     "Driver Version                            : 550.54.15\nAttached GPUs  : 1\n"
     "GPU 00000000:87:00.0\n    Product Name                          : NVIDIA H100\n"
     "    MIG Mode\n        Current                           : Disabled\n"
     "    Clocks Event Reasons\n        Idle                              : Not Active\n"
     "        HW Slowdown                       : Active\n            HW Thermal Slowdown          "
     " "
     ": Active\n"
     "    ECC Errors\n        Volatile\n            SRAM Uncorrectable            : 3\n"
     "            DRAM Uncorrectable            : N/A\n"
     "    Remapped Rows\n        Pending                           : No\n"
     "        Remapping Failure Occurred        : Yes\n    Temperature\n"
     "        GPU Current Temp                  : 30 C\n",
     "gpu [00000000:87:00.0] MIG Mode Current = Disabled\n"
     "gpu [00000000:87:00.0] HW Slowdown = Active\n"
     "gpu [00000000:87:00.0] HW Thermal Slowdown = Active\n"
     "gpu [00000000:87:00.0] Volatile SRAM Uncorrectable = 3\n"
     "gpu [00000000:87:00.0] Pending = No\n"
     "gpu [00000000:87:00.0] Remapping Failure Occurred = Yes\n"},
    {"a part of it", "smi_q.txt",
     "    Remapped Rows\n        Correctable Error                 : 2\n"
     "        Remapping Failure Occurred        : No\n",
     "gpu [] Correctable Error = 2\ngpu [] Remapping Failure Occurred = No\n"},
    {"the table", "smi.txt",
     "+-----------------------------------------------------------------------------------------+\n"
     "| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |\n"
     "|-----------------------------------------+------------------------+----------------------+\n"
     "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
     "|=========================================+========================+======================|\n"
     "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    2 |\n"
     "| N/A   30C    P0             ERR! / 700W |       0MiB /  81559MiB |      0%      Default |\n"
     "+-----------------------------------------+------------------------+----------------------+"
     "\n",
     "driver kernel 550.54.15\ngpu [00000000:1B:00.0] Volatile Uncorr. ECC = 2\n"
     "gpu [00000000:1B:00.0] reading = ERR!\n"},
    {"no handle", "smi.txt",
     "Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error\n",
     "gpu [0000:3B:00.0] device handle = Unknown Error\n"},
    {"no handle of nothing", "smi.txt", "Unable to determine the device handle for GPU 7: no\n",
     "LOG\n"},

    {"no tree", "lspci.txt", "           +-03.0-[04]----00.0\n", "LOG\n"},
    {"a branch from nowhere", "lspci.txt", "-[0000:00]-+-00.0\n     +-03.0-[04]----00.0\n",
     "LOG\n"},
    {"lspci -tv", "lspci.txt",
     "-[0000:00]-+-00.0  Intel Corporation Device 09a2\n"
     "           +-03.0-[04]----00.0  NVIDIA Corporation GH100\n"
     "           +-05.0-[05-0a]----00.0-[06-0a]--+-00.0-[07]----00.0  Mellanox MT2910\n"
     "           |                               \\-01.0-[08]--\n"
     "           \\-1f.0  Intel LPC\n",
     "bridge 0000:00:03.0 0000:04:00.0 [NVIDIA Corporation GH100]\n"
     "bridge 0000:06:00.0 0000:07:00.0 [Mellanox MT2910]\n"},
    {"several roots", "lspci.txt",
     "-+-[0000:ae]-+-00.0\n |           \\-02.0-[af]----00.0  NVIDIA\n \\-[0000:00]-+-00.0\n"
     "             \\-1c.0-[06]----00.0\n",
     "bridge 0000:ae:02.0 0000:af:00.0 [NVIDIA]\nbridge 0000:00:1c.0 0000:06:00.0 []\n"},
};

TEST(SiteGpus, TablesOfTools) {
  expect(kRows);
}
TEST(SiteGpus, DamageIsSafe) {
  expect_safe(kRows);
}

}  // namespace
}  // namespace muster
