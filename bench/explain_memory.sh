#!/bin/sh
# Peak memory of `muster explain` on a log of 1 GB and one of 10 GB of the same kind, plain and packed.
# The bar: the larger one takes no more than 1.1 times as much. Logs are made in a folder outside of
# the tree (12 GB) and taken away again.
#
#   bench/explain_memory.sh [GB GB]     1 and 10; needs build/release with muster
set -eu
cd "$(dirname "$0")/.."
small=${1:-1} large=${2:-10}
muster=$PWD/build/release/cmd/muster
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# A piece of about 10 MB: steps, saves, NCCL, a kernel's lines and a rank that times out again and again.
awk 'BEGIN {
  for (i = 0; i < 60000; i++) {
    printf "2026-08-01 10:%02d:%02d,%03d INFO step %d/90000 loss 2.%04d tokens/s 51234\n", i / 60 % 60, i % 60, i % 1000, i, i % 10000
    if (i % 500 == 0) printf "2026-08-01 10:%02d:%02d,000 INFO saving checkpoint at step %d\n", i / 60 % 60, i % 60, i
    if (i % 7 == 0) printf "n%03d:%d:%d [%d] NCCL INFO Channel %02d/0 : %d -> %d via P2P\n", i % 64, 4000 + i % 512, 5000 + i % 512, i % 8, i % 32, i % 512, (i + 1) % 512
    if (i % 50 == 0) printf "[rank%d]:[E801 10:%02d:%02d.118203377 ProcessGroupNCCL.cpp:629] [Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=%d, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n", i / 50 % 64, i / 60 % 60, i % 60, i / 50 % 64, i % 900
    if (i % 100 == 0) printf "Aug  1 10:%02d:%02d n3 kernel: [%d.5] NVRM: Xid (PCI:0000:3b:00): 45, pid=%d, name=python3, Ch 00000008\n", i / 60 % 60, i % 60, i, 4000 + i % 100
  }
}' >"$work/piece"
bytes=$(wc -c <"$work/piece")

make_log() {  # GB FILE
  : >"$2"
  i=$(($1 * 1000000000 / bytes + 1))
  while [ "$i" -gt 0 ]; do
    cat "$work/piece" >>"$2"
    i=$((i - 1))
  done
}

peak_kib() {  # FILE
  /usr/bin/time -f %M -o "$work/peak" "$muster" explain "$1" >"$work/said" || true
  cat "$work/peak" | tail -n 1
}

status=0
for form in plain packed; do
  peaks=
  for gb in "$small" "$large"; do
    make_log "$gb" "$work/run.log"
    file=$work/run.log
    if [ "$form" = packed ]; then
      gzip -1 -f "$file"
      file=$file.gz
    fi
    peak=$(peak_kib "$file")
    rm -f "$file"
    echo "$form $gb GB: $((peak / 1024)) MiB"
    peaks="$peaks $peak"
  done
  set -- $peaks
  if [ $(($2 * 10)) -gt $(($1 * 11)) ]; then
    echo "$form: over the bar"
    status=1
  fi
done
exit $status
