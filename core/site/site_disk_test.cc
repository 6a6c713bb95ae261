#include "core/site/site_test_kit.h"
#include "core/site/sizes.h"

namespace muster {
namespace {

using namespace site_test;

constexpr Row kRows[] = {
    {"no mount", "df.txt",
     "Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/sda 1 2 3 4%\n", "LOG\n"},
    {"no numbers", "df.txt",
     "Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/sda a b c 4% /x\n", "LOG\n"},
    {"a heading alone", "df.txt", "Filesystem 1K-blocks Used Available Use% Mounted on\n", "LOG\n"},
    {"blocks of nothing", "df.txt",
     "Filesystem 0K-blocks Used Available Use% Mounted on\n/dev/sda 1 2 3 4% /\n", "LOG\n"},
    {"in the middle of a log", "train.log",
     "step 1\nstep 2\nFilesystem 1K-blocks Used Available Use% Mounted on\n/dev/sda 1 2 3 4% /\n"
     "step 3\nstep 4\n",
     "LOG\n"},
    {"binary", "df.txt",
     "Filesystem Size Used Avail Use% Mounted on\n/dev/sda 1 2 3 4% /\n\x01\xff", "LOG\n"},
    {"blocks of 1K", "df.txt",
     "Filesystem     1K-blocks     Used Available Use% Mounted on\n"
     "/dev/nvme0n1p2 102400 51200 51200  50% /\n"
     "tmpfs          65536  65536     0 100% /dev/shm\n",
     "disk / on /dev/nvme0n1p2 bytes 104857600 52428800 52428800 +-1024\n"
     "disk /dev/shm on tmpfs bytes 67108864 67108864 0 +-1024\n"},
    {"other blocks", "df.txt",
     "Filesystem 1G-blocks Used Available Use% Mounted on\n10.1.2.3:/x 10 9 1 90% /x\n"
     "Filesystem 1MB-blocks Used Available Use% Mounted on\n/dev/sda 10 9 1 90% /y\n"
     "Filesystem 512-blocks Used Available Capacity Mounted on\n/dev/sdb 10 9 1 90% /z\n",
     "disk /x on 10.1.2.3:/x bytes 10737418240 9663676416 1073741824 +-1073741824\n"
     "disk /y on /dev/sda bytes 10000000 9000000 1000000 +-1000000\n"
     "disk /z on /dev/sdb bytes 5120 4608 512 +-512\n"},
    {"for people", "df.txt",
     "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda  3.5T  1.1T  2.4T  31% /a b\n"
     "shm 64M 0 64M 0% /dev/shm\n",
     "disk /a b on /dev/sda bytes 3848290697216 1209462790554 2638827906662 +-109951162778\n"
     "disk /dev/shm on shm bytes 67108864 0 67108864 +-1048576\n"},
    {"inodes and types", "df_i.txt",
     "Filesystem     Type   Inodes IUsed IFree IUse% Mounted on\n/dev/sda ext4 1000 1000 0 100% "
     "/a\n"
     "gpfs1 gpfs - - - - /g\n",
     "disk /a on /dev/sda inodes 1000 1000 0 +-1\n"
     "disk /g on gpfs1 inodes - - - +-1\n"},
    {"a long name, less than nothing left", "df.txt",
     "Filesystem 1K-blocks Used Available Use% Mounted on\na-very-long-name.example:/fs\n"
     "             4 3 -1 90% /l\n",
     "disk /l on a-very-long-name.example:/fs bytes 4096 3072 0 +-1024\n"},
    {"a prompt names the host", "out.txt",
     "[me@n07 ~]$ df\nFilesystem 1K-blocks Used Available Use% Mounted on\n/dev/sda 4 3 1 90% /\n",
     "n07: disk / on /dev/sda bytes 4096 3072 1024 +-1024\n"},
    {"two tools in one file, one host in its name", "df_n03.txt",
     "Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/sda 4 3 1 90% /\n\n"
     "open files                          (-n) 1024\n",
     "n03: disk / on /dev/sda bytes 4096 3072 1024 +-1024\n"
     "n03: limit nofile 1024 - files\n"},

    {"a limit without a number", "ulimit.txt", "open files      (-n) many\n", "LOG\n"},
    {"a unit that nobody knows", "ulimit.txt", "max locked memory   (furlongs, -l) 8\n", "LOG\n"},
    {"three words of /proc", "limits.txt", "Max open files 1024\n", "LOG\n"},
    {"limits.conf of nothing known", "limits.conf", "* soft wishes 3\n", "LOG\n"},
    {"ulimit -a", "ulimit.txt",
     "core file size              (blocks, -c) 0\nmax locked memory           (kbytes, -l) 8192\n"
     "open files                          (-n) 1024\npipe size            (512 bytes, -p) 8\n"
     "max user processes                  (-u) unlimited\n",
     "limit core 0 - bytes\nlimit memlock 8388608 - bytes\nlimit nofile 1024 - files\n"
     "limit pipe size 4096 - \nlimit nproc unlimited - processes\n"},
    {"ulimit of zsh", "ulimit.txt",
     "-n: file descriptors                1024\n-l: locked-in-memory size (kbytes)  64\n",
     "limit nofile 1024 - files\nlimit memlock 65536 - bytes\n"},
    {"/proc/PID/limits", "limits.txt",
     "Limit                     Soft Limit           Hard Limit           Units     \n"
     "Max open files            1024                 1048576              files     \n"
     "Max locked memory         65536                unlimited            bytes     \n"
     "Max nice priority         0                    0                    \n",
     "limit nofile 1024 1048576 files\nlimit memlock 65536 unlimited bytes\nlimit nice 0 0 \n"},
    {"prlimit", "limits.txt",
     "RESOURCE   DESCRIPTION                             SOFT      HARD UNITS\n"
     "MEMLOCK    max locked-in-memory address space   8388608   8388608 bytes\n"
     "NOFILE     max number of open files                1024   1048576 files\n",
     "limit memlock 8388608 8388608 bytes\nlimit nofile 1024 1048576 files\n"},
    {"limits.conf", "limits.conf",
     "* soft memlock unlimited\n* hard nofile 65536\n@gpu - memlock 64\n",
     "limit memlock unlimited - bytes\nlimit nofile - 65536 files\nlimit memlock 65536 65536 "
     "bytes\n"},

    {"a service that nobody named", "systemctl.txt", "     Active: inactive (dead)\n", "LOG\n"},
    {"an answer without a question", "systemctl.txt", "inactive\n", "LOG\n"},
    {"systemctl status", "systemctl.txt",
     "\xe2\x97\x8b nvidia-imex.service - NVIDIA IMEX service\n     Loaded: loaded (/lib/x; "
     "disabled)\n"
     "     Active: failed (Result: exit-code) since Fri 2026-05-01 10:00:00 UTC; 3min ago\n"
     "   Main PID: 4711 (code=exited, status=1/FAILURE)\n\n"
     "May 01 10:00:00 n07 systemd[1]: Failed to start.\n\n"
     "* a.service - A\n     Active: active (running) since Fri\n",
     "service nvidia-imex off [failed (Result: exit-code)]\nservice a runs [active (running)]\n"},
    {"systemctl list-units", "systemctl.txt",
     "  UNIT                         LOAD   ACTIVE SUB     DESCRIPTION\n"
     "  nvidia-fabricmanager.service loaded active running NVIDIA fabric manager\n"
     "\xe2\x97\x8f b.service                    loaded failed failed  B service\n",
     "service nvidia-fabricmanager runs [active (running)]\nservice b off [failed (failed)]\n"},
    {"not there, and asked", "systemctl.txt",
     "$ systemctl is-active nvidia-fabricmanager b\ninactive\nactive\n"
     "Unit c.service could not be found.\n",
     "service nvidia-fabricmanager off [inactive]\nservice b runs [active]\n"
     "service c off [not found]\n"},

    {"a GID that is none", "gids.txt", "DEV PORT INDEX GID IPv4 VER DEV\nmlx5_0 1 0 fe80 v1 eth0\n",
     "LOG\n"},
    {"a port that is none", "gids.txt",
     "DEV PORT INDEX GID IPv4 VER DEV\nmlx5_0 x 0 fe80:0:1 v1 eth0\n", "LOG\n"},
    {"show_gids", "show_gids.txt",
     "DEV\tPORT\tINDEX\tGID\t\t\tIPv4\tVER\tDEV\n---\t----\t-----\t---\t\t\t---\t---\t---\n"
     "mlx5_0\t1\t0\tfe80:0000:0000:0000:0ac0:ebff:fe11:0001\t\tv1\teth2\n"
     "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a01:0203\t10.1.2.3  "
     "\tv2\teth2\nn_gids_found=2\n",
     "gid mlx5_0 1 0 fe80:0000:0000:0000:0ac0:ebff:fe11:0001 [] v1\n"
     "gid mlx5_0 1 3 0000:0000:0000:0000:0000:ffff:0a01:0203 [10.1.2.3] v2\n"},
    {"ibv_devinfo", "devinfo.txt",
     "hca_id:\tmlx5_1\n\ttransport:\t\t\tInfiniBand (0)\n\tfw_ver:\t\t\t28.39\n\t\tport:\t2\n"
     "\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n\t\t\tGID[  0]:\t\tfe80::ac0:ebff:fe11:1, RoCE v1\n"
     "\t\t\tGID[  3]:\t\t::ffff:10.1.2.3, RoCE v2\n",
     "gid mlx5_1 2 0 fe80::ac0:ebff:fe11:1 [] v1\ngid mlx5_1 2 3 ::ffff:10.1.2.3 [10.1.2.3] v2\n"},
};

TEST(SiteDisks, TablesOfTools) {
  expect(kRows);
}
TEST(SiteDisks, DamageIsSafe) {
  expect_safe(kRows);
}

TEST(SiteDisks, Sizes) {
  const std::pair<const char*, double> good[] = {{"512", 512},         {"1K", 1024},
                                                 {"1k", 1024},         {"8kB", 8000},
                                                 {"8KB", 8000},        {"1.5Gi", 1610612736},
                                                 {"2GiB", 2147483648}, {"0", 0},
                                                 {"16 KiB", 16384},    {"3E", 3458764513820540928}};
  for (const auto& [text, bytes] : good) EXPECT_EQ(read_size(text), bytes) << text;
  for (const char* bad : {"", "K", "-1", "1X", "1KK", "1KiBs", "1e3", "..", "12 34"}) {
    EXPECT_FALSE(read_size(bad)) << bad;
  }
}

}  // namespace
}  // namespace muster
