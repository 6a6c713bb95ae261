#!/bin/sh
# usage: generate.sh FOLDER
# Writes FOLDER/gpus.csv and FOLDER/train.log: a SIMULATED recording (README.md). Nothing here was
# measured; the same bytes come out on every machine.
set -eu
awk -v folder="$1" '
# A small random generator of our own: awk versions differ in theirs.
function chance() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
function between(low, high) { return low + (high - low) * chance() }

function stamp(second) {
  return sprintf("%02d:%02d:%02d", 14 + int(second / 3600), int(second / 60) % 60, second % 60)
}

function phase(second) {
  if (second < first_save) return "compute"
  if (second < first_save + save_s) return "save"
  if (second < hang) return "compute"
  return "hang"
}

function watts(what) {
  return what == "compute" ? between(940, 1040) : between(190, 195)
}

# A kernel that only waits counts as use: that is the trap of utilization.
function util(what, rank) {
  if (what == "save" && rank == 0) return 0
  if (what == "hang" && rank == 3) return 0
  return 100
}

function telemetry(  second, rank, what) {
  out = folder "/gpus.csv"
  print "timestamp, host, index, rank, name, power.draw [W], utilization.gpu [%], " \
        "enforced.power.limit [W]" > out
  for (second = 0; second < end; second += 2) {
    what = phase(second)
    for (rank = 0; rank < 16; rank++) {
      printf "2026/11/03 %s.%03d, n%d, %d, %d, NVIDIA B300 SXM6 AC, %.2f W, %d %%, 1100.00 W\n",
        stamp(second), rank % 8, 1 + int(rank / 8), rank % 8, rank, watts(what),
        util(what, rank) > out
    }
  }
  close(out)
}

function step_line(second, step) {
  printf "2026-11-03 %s step %d/3857 loss %.4f tok/s %d\n", stamp(second), step,
    between(0.67, 0.69), between(52800, 53200) > out
}

function log_lines(  second, step) {
  out = folder "/train.log"
  print "# SIMULATED, see README.md" > out
  step = 3803
  for (second = 5; second <= first_save; second += 5) step_line(second, step++)
  printf "2026-11-03 %s saving checkpoint step_%d\n", stamp(first_save), step - 1 > out
  printf "2026-11-03 %s saved checkpoint step_%d in %.1f s\n", stamp(first_save + save_s), step - 1,
    save_s > out
  for (second = first_save + save_s + 5; second <= hang; second += 5) step_line(second, step++)
  close(out)
}

BEGIN {
  seed = 20261103
  first_save = 120; save_s = 118; hang = 358; end = 630
  telemetry()
  log_lines()
}'
