"""Writes the flight recorder of this rank when its training stops moving.

Gloo has no watchdog that would dump, so a thread of our own does: it works while the training
thread is blocked inside a collective. One dump a process, as pickle and as JSON.
"""

import os
import sys
import threading

import torch._C._distributed_c10d as c10d

# The first step builds communicators and imports half of the library.
FIRST_STEP_S = 12.0


def write(path, data):
    # Whole or not at all: whoever waits for the file may end this process as soon as it is there.
    with open(path + ".part", "wb") as out:
        out.write(data)
    os.rename(path + ".part", path)


class StallDump:
    """`pickle_prefix` and `json_prefix` get the rank appended."""

    def __init__(self, rank, pickle_prefix, json_prefix, stall_s, at_step=None):
        self._paths = (f"{pickle_prefix}{rank}", f"{json_prefix}{rank}")
        self._stall_s = stall_s
        self._at_step = at_step
        self._moved = threading.Event()
        self._wanted = threading.Event()
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._written = False
        self._thread = threading.Thread(target=self._watch, name="stall", daemon=True)
        self._thread.start()

    def beat(self, step):
        """The training thread has finished `step`."""
        if step == self._at_step:
            self._wanted.set()
        self._moved.set()

    def stop(self):
        self._stopped.set()
        self._moved.set()
        self._thread.join()

    def dump(self, why):
        with self._lock:
            if self._written:
                return
            self._written = True
            print(f"flight recorder dumped: {why}", file=sys.stderr, flush=True)
            write(self._paths[0], c10d._dump_fr_trace(True, True, False))
            write(self._paths[1], c10d._dump_fr_trace_json(True, False))

    def _watch(self):
        patience_s = FIRST_STEP_S
        while self._moved.wait(patience_s):
            self._moved.clear()
            if self._stopped.is_set():
                return
            patience_s = self._stall_s
            if self._wanted.is_set():
                self.dump("asked for")
                self._wanted.clear()
        self.dump("no step for a while")
