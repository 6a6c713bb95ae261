"""Makes real flight-recorder dumps: trains on several processes of this machine, with a fault.

    python make_flight_dumps.py OUT [SCENARIO...]

For each scenario OUT/SCENARIO/ gets pickle/ and json/ (a dump a rank, each named
comm_lib_trace_rank_RANK), logs/ (what each rank printed) and truth.json (what went wrong, on which
rank, and how each rank ended). Needs torch 2.8 or newer; Gloo on loopback, no GPU. Each process
that is started here is ended here, by its number, after 40 s a scenario at the latest.

Exit status: 0 when every scenario went as its row says, 1 otherwise.
"""

import dataclasses
import itertools
import json
import multiprocessing
import os
import platform
import shutil
import signal
import sys
import time

import torch
import torch.distributed as dist

import train

# A scenario takes 1 to 6 s on two idle cores.
DEADLINE_S = 40.0
PREFIX = "comm_lib_trace_rank_"
# Imported once by the server that all ranks are forked from: eight imports of torch at the same
# time would take longer than a scenario.
PRELOAD = ["torch", "torch._dynamo", "torch.distributed.fsdp",
           "torch.distributed.tensor.parallel"]


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    fault: str
    expected: str  # the verdict that is right, by the names of core/flight/verdict.cc
    culprit: int = -1
    ranks: int = 4
    no_dump: tuple = ()  # ranks that have none; all others must have one
    ends: str = "hung"  # how the first innocent rank must end: hung, raised, killed or finished
    buffer: int = 200  # TORCH_FR_BUFFER_SIZE, entries
    options: tuple = ()


DP = ("--parallel", "dp")
ACCUMULATE = ("--accumulate", "2")
SCENARIOS = (
    Scenario("uneven_steps", "uneven_steps", "ahead_left_loop", 3, 8, options=ACCUMULATE),
    Scenario("uneven_steps_rank0", "uneven_steps", "ahead_left_loop", 0, 8, options=ACCUMULATE),
    Scenario("uneven_steps_forward", "uneven_steps", "ahead_left_loop", 1),
    Scenario("hang", "hang", "behind", 2),
    Scenario("crash", "crash", "no_dump", 1, no_dump=(1,), ends="raised"),
    Scenario("exception", "exception", "behind", 1, ends="raised"),
    Scenario("skipped", "skipped", "mismatch", 2),
    Scenario("extra", "extra", "extra_op", 0),
    # Gloo aborts the process that is sent more than it expects: the culprit, or a neighbour.
    Scenario("size_smaller", "freezes_alone", "no_dump", 2, no_dump=(2,), ends="raised",
             options=DP),
    Scenario("size_larger", "forgets_to_freeze", "mismatch", 2, no_dump=(1,), ends="raised",
             options=DP),
    Scenario("dtype_mismatch", "dtype_mismatch", "no_dump", 3, no_dump=(3,), ends="raised",
             options=DP),
    Scenario("op_mismatch", "op_mismatch", "mismatch", 1, options=DP),
    Scenario("group_order", "group_order", "out_of_order", 3, options=DP),
    Scenario("healthy", "none", "none", ends="finished", buffer=20,
             options=("--dump-at-step", "3")),
    Scenario("silent_dtype", "silent_dtype", "silent_mismatch", 2, ends="finished",
             options=DP + ("--dump-at-step", "4")),
    Scenario("tp_dp_hang", "hang", "behind", 5, 8, options=("--parallel", "tp")),
)


def path_of(folder, kind, rank):
    return os.path.join(folder, kind, f"{PREFIX}{rank}")


def run_rank(rank, port, scenario, folder):
    """In a process of its own: the environment of torchrun, then the training program."""
    log = os.open(os.path.join(folder, "logs", f"rank_{rank}.log"), os.O_WRONLY | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ.update(
        RANK=str(rank), WORLD_SIZE=str(scenario.ranks), MASTER_ADDR="127.0.0.1",
        MASTER_PORT=str(port), TORCHELASTIC_USE_AGENT_STORE="True", GLOO_SOCKET_IFNAME="lo",
        TORCH_FR_BUFFER_SIZE=str(scenario.buffer),
    )
    words = ["--fault", scenario.fault, "--culprit", str(scenario.culprit), *scenario.options]
    words += ["--pickle-prefix", path_of(folder, "pickle", ""),
              "--json-prefix", path_of(folder, "json", "")]
    try:
        train.main(words)
    except Exception:
        # As the interpreter would at the end of a program: PyTorch's hook writes the rank before
        # each line.
        sys.excepthook(*sys.exc_info())
        sys.exit(1)


def settled(process, folder, rank):
    """The rank has ended, or has written both of its dumps and is still at it."""
    return process.exitcode is not None or os.path.exists(path_of(folder, "json", rank))


def end(processes):
    """Stops all before it kills the first: nobody may see another one go and complain of it."""
    started = [process for process in processes if process.pid is not None]
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for process in started:
            if process.exitcode is None:
                os.kill(process.pid, number)
    for process in started:
        process.join()


def lines_of_log(folder, rank):
    with open(os.path.join(folder, "logs", f"rank_{rank}.log"), encoding="utf-8") as log:
        return [line.strip() for line in log if line.strip()]


def outcome_of(process, was_alive, folder, rank):
    lines = lines_of_log(folder, rank)
    if was_alive:
        return {"end": "hung"}
    if process.exitcode == 0:
        return {"end": "finished"}
    end_word = "raised" if process.exitcode > 0 else "killed"
    return {"end": end_word, "exit": process.exitcode, "last_line": lines[-1] if lines else ""}


def run(scenario, context, folder):
    """Runs the ranks of a scenario to their end; how each of them ended."""
    for kind in ("pickle", "json", "logs"):
        os.makedirs(os.path.join(folder, kind))
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    processes = [context.Process(target=run_rank, args=(rank, store.port, scenario, folder))
                 for rank in range(scenario.ranks)]
    try:
        for process in processes:
            process.start()  # the first one waits for the imports of the server
        deadline = time.monotonic() + DEADLINE_S
        waits_for_exit = scenario.ends != "hung"
        while time.monotonic() < deadline:
            if all(p.exitcode is not None if waits_for_exit else settled(p, folder, rank)
                   for rank, p in enumerate(processes)):
                break
            time.sleep(0.05)
        alive = [process.exitcode is None for process in processes]
    finally:
        end(processes)
    return [outcome_of(process, alive[rank], folder, rank)
            for rank, process in enumerate(processes)]


def complaints_of(scenario, outcomes, folder):
    """What did not go as the row of the scenario says."""
    first = next(rank for rank in range(scenario.ranks) if rank != scenario.culprit)
    if outcomes[first]["end"] != scenario.ends:
        yield f"rank {first} ended as {outcomes[first]}, not {scenario.ends}"
    for rank in range(scenario.ranks):
        before_dump = itertools.takewhile(lambda line: "dumped" not in line,
                                          lines_of_log(folder, rank))
        if not any(line.startswith(f"step {train.FAULT_STEP - 1} ") for line in before_dump):
            yield f"rank {rank} did not come to its fault: a machine too busy?"
        there = os.path.exists(path_of(folder, "json", rank))
        if there == (rank in scenario.no_dump):
            yield f"rank {rank} has {'a' if there else 'no'} dump"
        if not there:
            continue
        with open(path_of(folder, "json", rank), encoding="utf-8") as dump:
            entries = json.load(dump).get("entries", [])
        if not entries:
            yield f"the dump of rank {rank} is empty"


def truth_of(scenario, outcomes):
    return {
        "fault": scenario.fault,
        "culprits": [scenario.culprit] if scenario.culprit >= 0 else [],
        "expected": scenario.expected,
        "ranks": scenario.ranks,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "ended": {str(rank): outcome for rank, outcome in enumerate(outcomes)},
    }


def main(words):
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    out, wanted = os.path.abspath(words[0]), words[1:]
    unknown = set(wanted) - {scenario.name for scenario in SCENARIOS}
    if unknown:
        sys.exit(f"no scenario is called {', '.join(sorted(unknown))}")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    failed = 0
    for scenario in SCENARIOS:
        if wanted and scenario.name not in wanted:
            continue
        started = time.monotonic()
        folder = os.path.join(out, scenario.name)
        shutil.rmtree(folder, ignore_errors=True)
        outcomes = run(scenario, context, folder)
        with open(os.path.join(folder, "truth.json"), "w", encoding="utf-8") as truth:
            json.dump(truth_of(scenario, outcomes), truth, indent=1)
            truth.write("\n")
        complaints = list(complaints_of(scenario, outcomes, folder))
        failed += bool(complaints)
        print(f"{scenario.name}: {time.monotonic() - started:.1f} s,"
              f" {' '.join(outcome['end'] for outcome in outcomes)}")
        for complaint in complaints:
            print(f"  WRONG: {complaint}")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
