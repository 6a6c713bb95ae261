#!/bin/sh
# Processor time and memory of `muster agent` at 1 Hz x 8 GPUs on the fake NVML, history on, its page
# fetched every 15 s as a Prometheus server does. The bar: under 0.5 % of a core, under 20 MiB.
#
#   bench/agent.sh [SECONDS [RUNS]]     300 and 3; needs build/release with muster and fake_nvml
#
# One line a run and the medians; ends with 1 where a median is over the bar.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-300} runs=${2:-3}
build=$PWD/build/release
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

for i in 0 1 2 3 4 5 6 7; do
  echo "gpu uuid=GPU-0000000$i pci=00000000:${i}8:00.0 name=NVIDIA_B300 power=98$i.5,99$i.25 limit=1100" \
    "util=100 memory=200000000000 clock=1920 mem_clock=3996 temperature=6$i reasons=0 instant=98$i.5" \
    "energy=1000000 pcie_gen=6 pcie_gen_max=6 pcie_width=16 pcie_width_max=16 ecc_corrected=0"
done >"$work/gpus"
sed -i '1i driver new' "$work/gpus"

one_run() {
  rm -f "$work"/h.db* "$work/said"
  MUSTER_NVML=$build/fake_nvml/libnvidia-ml.so.1 MUSTER_FAKE_NVML=$work/gpus \
    "$build/cmd/muster" agent --listen 127.0.0.1:0 --history "$work/h.db" 2>"$work/said" &
  pid=$!
  sleep 2
  url=$(sed -n 's,.*\(http://[0-9.:]*/metrics\).*,\1,p' "$work/said")
  [ -n "$url" ] || { cat "$work/said" >&2; exit 70; }
  before=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
  end=$(($(date +%s) + seconds))
  while left=$((end - $(date +%s))) && [ "$left" -gt 0 ]; do
    sleep "$((left < 15 ? left : 15))"
    curl -sf -o "$work/page" "$url"
  done
  after=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
  rss=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/$pid/status")
  kill "$pid"
  wait "$pid" || true
  pid=
  echo "$before $after $rss $(wc -c <"$work/h.db")" | awk -v s="$seconds" -v hz="$(getconf CLK_TCK)" \
    '{ printf "%.3f %% of a core, %d kB at most resident, history %d bytes\n", \
       100 * ($2 - $1) / hz / s, $3, $4 }'
}

for run in $(seq "$runs"); do
  one_run | tee -a "$work/runs"
done
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
cpu=$(awk '{ print $1 }' "$work/runs" | median)
rss=$(awk '{ print $6 }' "$work/runs" | median)
echo "median: $cpu % of a core, $rss kB"
awk -v cpu="$cpu" -v rss="$rss" 'BEGIN { exit !(cpu < 0.5 && rss < 20480) }'
