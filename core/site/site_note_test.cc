#include "core/site/file_host.h"
#include "core/site/site_test_kit.h"
#include "core/site/site_text.h"

namespace muster {
namespace {

using namespace site_test;

constexpr Row kRows[] = {
    {"nothing", "x.txt", "", "LOG\n"},
    {"blanks", "x.txt", "\n \n\t\n", "LOG\n"},
    {"prose", "notes.txt", "The run died at night.\nWe do not know why.\n", "LOG\n"},

    {"a log of key=value", "train.log", "step=1 loss=2.1\nstep=2 loss=2.0\n", "LOG\n"},
    {"a log of logfmt", "agent.log", "time=\"10:00\" level=info msg=\"up\"\n", "LOG\n"},
    {"names again and again", "x.txt", "gpu=1 power=3\ngpu=2 power=3\ngpu=3 power=4\n", "LOG\n"},
    {"one line is none", "env.txt", "NCCL_DEBUG=INFO\nthis is a sentence\n", "LOG\n"},
    {"yaml by another name", "x.txt", "a: b\nc: d\n", "LOG\n"},
    {"an environment", "env_n07.txt",
     "# of the job\nNCCL_IB_HCA=mlx5_0,mlx5_1\nexport NCCL_ALGO=\"Ring\"\ndeclare -x "
     "A=b=c\nEMPTY=\n"
     "BASH_FUNC_ml%%=() {  eval x\n}\n",
     "n07: set NCCL_IB_HCA=mlx5_0,mlx5_1\nn07: set NCCL_ALGO=Ring\nn07: set A=b=c\nn07: set "
     "EMPTY=\n"},
    {"a plan in one line", "plan.txt", "checkpoint_dir=/x keep=2 size_gb=62\n",
     "set checkpoint_dir=/x\nset keep=2\nset size_gb=62\n"},
    {"notes", "vocab.txt", "model.embed.num_embeddings=32000\nlargest id in data/a.bin = 32007\n",
     "set model.embed.num_embeddings=32000\nset largest id in data/a.bin=32007\n"},
    {"ini", "run.cfg", "; old\n[train]\nlr = 3e-4\nname = 'a b'\n", "set lr=3e-4\nset name=a b\n"},
    {"yaml", "run.yaml", "---\nlr: 3e-4\n- name: x\n", "set lr=3e-4\nset name=x\n"},
    {"a job script", "job.sh",
     "#!/bin/bash\n#SBATCH --nodes=2 -J train\n#SBATCH --exclusive\nexport NCCL_ALGO=Ring  # why\n"
     "A=1 B=2 srun --kill-on-bad-exit=1 -N 2 torchrun --max_restarts 0 \\\n  --nnodes 2 train.py\n"
     "echo done\n",
     "set nodes=2\nset J=train\nset exclusive=\nset NCCL_ALGO=Ring\nset A=1\nset B=2\n"
     "set kill-on-bad-exit=1\nset N=2\nset max_restarts=0\nset nnodes=2\n"},
    {"a script without its head", "job.txt", "srun --nodes=2 x\necho\n", "LOG\n"},

    {"no rank at all", "ranks.txt", "n01\nn02\n", "LOG\n"},
    {"ranks of nobody", "ranks.txt", "0-7\n8-15\n", "LOG\n"},
    {"backwards", "ranks.txt", "n01: 7-0\n", "LOG\n"},
    {"beyond any job", "ranks.txt", "n01: 0-99999999\n", "LOG\n"},
    {"a sentence among them", "ranks.txt", "n01: 0-7\nn02 was slow today\n", "LOG\n"},
    {"counts of something", "counts.txt", "out_of_sequence 3 4\nretries 7 7\n", "LOG\n"},
    {"a count of something", "counts.txt", "retries 3\n", "LOG\n"},
    {"words behind a task", "slurm.out", "3: Killed\n4: done\n", "LOG\n"},
    {"an address of nobody", "hosts.txt", "10.1.2.3\n", "LOG\n"},
    {"hosts", "hosts",
     "127.0.0.1 localhost\n::1 ip6-localhost ip6-loopback # six\n10.1.2.3\tn03 n03-ib\n",
     "address 127.0.0.1 localhost\naddress ::1 ip6-localhost\naddress ::1 ip6-loopback\n"
     "address 10.1.2.3 n03\naddress 10.1.2.3 n03-ib\n"},
    {"hosts with ranks", "hosts.txt", "10.1.2.3 n03 (ranks 40-47)\n10.1.2.4 (ranks 48-55)\n",
     "address 10.1.2.3 n03\nranks 40-47 n03 []\nranks 48-55 10.1.2.4 []\n"},
    {"maps of ranks", "ranks.txt",
     "ranks 16-23 -> n3 (rank 18 -> PCI 0002:00:00)\n3 n01\n4: n01\nrank 5 on n01\n6,n02\n"
     "n04: 0-2,7\nn05 ranks 8-9\nrank 11: n06 gpu 2 PCI 0000:3b:00.0\n",
     "ranks 16-23 n3 []\nranks 18-18 n3 [0002:00:00]\nranks 3-3 n01 []\nranks 4-4 n01 []\n"
     "ranks 5-5 n01 []\nranks 6-6 n02 []\nranks 0-2 n04 []\nranks 7-7 n04 []\nranks 8-9 n05 []\n"
     "ranks 11-11 n06 [0000:3b:00.0]\n"},
    {"a table of ranks", "ranks.csv", "rank,host\n0,n01\n1,n02\n",
     "ranks 0-0 n01 []\nranks 1-1 n02 []\n"},

    {"modes that are none", "ls.txt", "rwxrwxrwx 1 me me 4 May 1 10:00 x\n", "LOG\n"},
    {"no time", "ls.txt", "-rw-r--r-- 1 me me 4 x y z\n", "LOG\n"},
    {"ls -lR", "listing.txt",
     "/fs/run:\ntotal 8\ndrwxr-xr-x 2 me me 4096 May  1 10:00 .\n"
     "drwxr-xr-x 2 me me 4096 May  1 10:00 step_40\n"
     "lrwxrwxrwx 1 me me    7 2026-05-01 10:00 latest -> step_40\n\n/fs/run/step_40/:\n"
     "-rw-r--r-- 1 me me 12345 2026-05-01 10:00:00.000000000 +0000 a b.pt\n"
     "-rw-r--r-- 1 me me 1.2K May  1  2025 c.pt\n",
     "entry d /fs/run/step_40 4096\nentry l /fs/run/latest 7 -> step_40\n"
     "entry - /fs/run/step_40/a b.pt 12345\nentry - /fs/run/step_40/c.pt -\n"},
    {"find", "find.txt",
     "  1234  8 -rw-r--r-- 1 me me 4096 May  1 10:00 /fs/run/a.pt\n4096\t/fs/run/b.pt\n",
     "entry - /fs/run/a.pt 4096\nentry - /fs/run/b.pt 4096\n"},

    {"no heading", "ps.txt", " 4711 Dl rpc_wait python\n", "LOG\n"},
    {"no pid", "ps.txt", "STAT COMMAND\nDl python\n", "LOG\n"},
    {"pids that are none", "ps.txt", "PID STAT COMMAND\nx Dl python\n0 S y\n", "LOG\n"},
    {"ps -o", "ps.txt",
     "    PID STAT WCHAN                          COMMAND\n"
     "   4711 Dl   rpc_wait_bit_killable          python train.py --x\n   4712 S    -  sh\n",
     "process 4711 [Dl] [rpc_wait_bit_killable] python train.py --x\nprocess 4712 [S] [] sh\n"},
    {"ps aux", "ps.txt",
     "USER  PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\n"
     "me   4711 99.0  1.0 10 9 ? Rl 10:00 1:00 python train.py\n",
     "process 4711 [Rl] [] python train.py\n"},
    {"ps -ef and top", "ps.txt",
     "UID PID PPID C STIME TTY TIME CMD\nme 4711 1 0 10:00 ? 00:00:01 python train.py\n\n"
     "top - 10:00:00 up 9 days\n"
     "PID USER PR NI VIRT RES SHR S %CPU %MEM TIME+ COMMAND\n"
     "4712 me 20 0 1g 1g 1m D 0.0 0.1 0:01.00 python\n",
     "process 4711 [] [] python train.py\nprocess 4712 [D] [] python\n"},

    {"a port beyond all", "ss.txt", "LISTEN 0 128 *:99999 *:* \n", "LOG\n"},
    {"ss", "ss.txt",
     "State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process\n"
     "LISTEN 0      2048               *:29511            *:*     "
     "users:((\"torchrun\",pid=4711,fd=3))\n"
     "LISTEN 0      128          [::]:22             [::]:*\n"
     "ESTAB  0      0       10.1.2.3:22      10.1.2.4:50000\n",
     "listener 29511 [torchrun] 4711\nlistener 22 [] -\n"},
    {"ss with its net", "ss.txt",
     "Netid State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
     "tcp LISTEN 0 128 0.0.0.0:29511 0.0.0.0:* "
     "users:((\"python\",pid=4,fd=3),(\"python\",pid=5,fd=3))\n",
     "listener 29511 [python] 4\n"},
    {"netstat, lsof and fuser", "ports.txt",
     "Active Internet connections (only servers)\n"
     "tcp 0 0 0.0.0.0:29511 0.0.0.0:* LISTEN 4711/python\n"
     "COMMAND PID USER FD TYPE DEVICE SIZE/OFF NODE NAME\n"
     "python 4712 me 3u IPv4 99 0t0 TCP *:29512 (LISTEN)\n29513/tcp:            4713\n",
     "listener 29511 [python] 4711\nlistener 29512 [python] 4712\nlistener 29513 [] 4713\n"},

    {"a list without its head", "apt.txt", "Upgrade: a:amd64 (1, 2)\n", "LOG\n"},
    {"apt", "history.log",
     "Start-Date: 2026-05-01  04:41:09\nCommandline: /usr/bin/unattended-upgrade\n"
     "Install: new:amd64 (3, automatic)\n"
     "Upgrade: libnvidia-compute-550:amd64 (550.1-0u1, 550.2-0u1), b:amd64 (1, 2)\n"
     "Remove: gone:amd64 (4)\nEnd-Date: 2026-05-01  04:41:18\n",
     "package new [] [3] /usr/bin/unattended-upgrade\n"
     "package libnvidia-compute-550 [550.1-0u1] [550.2-0u1] /usr/bin/unattended-upgrade\n"
     "package b [1] [2] /usr/bin/unattended-upgrade\n"
     "package gone [4] [] /usr/bin/unattended-upgrade\n"},
    {"dpkg and dnf", "dpkg.log",
     "2026-05-01 04:41:09 upgrade libnvidia-compute-550:amd64 550.1-0u1 550.2-0u1\n"
     "2026-05-01 04:41:15 status half-configured libnvidia-compute-550:amd64 550.1-0u1\n"
     "2026-05-01T04:41:09Z SUBDEBUG Upgrade: nvidia-driver-3:550.2-1.el9.x86_64\n"
     "May 01 04:41:09 Updated: 3:nvidia-driver-550.2-1.el7.x86_64\n",
     "package libnvidia-compute-550 [550.1-0u1] [550.2-0u1] \n"
     "package nvidia-driver [] [550.2-1.el9.x86_64] \n"
     "package nvidia-driver [] [550.2-1.el7.x86_64] \n"},

    {"a table of something else", "runs.tsv", "run\tloss\tlr\na\t1\t2\n", "LOG\n"},
    {"trials", "runs.tsv",
     "run\thosts\tleaf_groups\tib\tresult\na1\tn01,n02\t7,9\ton\thang at first collective\n"
     "a2\tn[03-04]\t9\toff\tno hang in 17 min\na3\tn05\t7\ton\t0 errors\nbad row\n",
     "trial a1 n01 n02 7 9 [leaf_groups] failed: hang at first collective\n"
     "trial a2 n03 n04 9 [leaf_groups] fine: no hang in 17 min\n"
     "trial a3 n05 7 [leaf_groups] fine: 0 errors\n"},

    {"records that are good", "a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n", "LOG\n"},
    {"a log of JSON lines", "log.jsonl",
     "{\"level\": \"info\"}\n{\"level\": \n{\"level\": \"x\"}\n", "LOG\n"},
    {"hardly any record", "a.jsonl", "{\"text\": 1}\nno\nno\nno\n", "LOG\n"},
    {"bad records", "a.jsonl",
     "{\"text\": \"one\"}\n{\"text\": \"tw}o\"}{\"text\": \"three\"}\n{\"text\": \"four\"}\n"
     "{\"text\": 'x'}\n{\"text\": \"five\"}\n{\"text\": \"si",
     "bad 2 more data behind the record, from column 17\nbad 4 no JSON\n"
     "bad 6 the file ends inside of this record\n"},
    {"a field is missing", "a.jsonl",
     "{\"text\": \"1\", \"id\": 1}\n{\"text\": \"2\", \"id\": 2}\n{\"id\": 3}\n{\"text\": \"4\", "
     "\"id\": 4}\n"
     "{\"text\": \"5\", \"id\": 5}\n{\"text\": \"6\", \"id\": 6}\n",
     "bad 3 no field \"text\", which all the others have\n"},
    {"optional fields are none", "a.jsonl",
     "{\"text\": \"1\", \"a\": 1}\n{\"text\": \"2\"}\n{\"text\": \"3\"}\n{\"text\": \"4\", \"a\": "
     "4}\n"
     "{\"text\": \"5\"}\n",
     "LOG\n"},
};

TEST(SiteNotes, TablesOfNotes) {
  expect(kRows);
}
TEST(SiteNotes, DamageIsSafe) {
  expect_safe(kRows);
}

TEST(SiteNotes, HostsInNames) {
  const std::pair<const char*, const char*> rows[] = {{"env_n07.txt", "n07"},
                                                      {"logs/n07_df.txt", "n07"},
                                                      {"df_i.txt", ""},
                                                      {"df_shm.txt", ""},
                                                      {"train_n07.log", ""},
                                                      {"env.txt", ""},
                                                      {"nvidia_smi_q.txt", ""},
                                                      {"env_7.txt", ""},
                                                      {"", ""},
                                                      {"counters_n07.example.txt", "n07"}};
  for (const auto& [name, host] : rows) EXPECT_EQ(host_of_file_name(name), host) << name;
}

TEST(SiteNotes, SizesAreBounded) {
  std::string many;
  for (std::size_t i = 0; i < limits::kSiteLines + 9; ++i) many += fmt::format("A{}=b\n", i);
  const auto facts = read_site_document("env.txt", many);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->size(), limits::kSiteFacts);
  std::string bad = "{\"a\": 1}\n{\"a\": 2}\n";
  for (int i = 0; i < 400; ++i) bad += "{\"a\": 1}\n{\"a\": 1}{\n";
  const auto records = read_site_document("a.jsonl", bad);
  ASSERT_TRUE(records);
  EXPECT_EQ(records->size(), limits::kSiteBadRecords);
  EXPECT_FALSE(read_site_document("env.txt", std::string(limits::kDocumentBytes + 1, 'a')));
}

}  // namespace
}  // namespace muster
