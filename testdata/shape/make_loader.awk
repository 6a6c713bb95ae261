# 120 steps of 0.9 s; every sixth waits 3 s for its batch. Run: awk -f make_loader.awk > loader.csv
BEGIN {
  srand(7)
  print "step,step_time_s,data_wait_s"
  for (step = 0; step < 120; ++step) {
    wait = step > 0 && step % 6 == 0 ? 3 + 0.4 * rand() : 0.004 + 0.004 * rand()
    printf "%d,%.3f,%.3f\n", step, 0.9 + 0.01 * rand() + wait, wait
  }
}
