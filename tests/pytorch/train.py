"""A small training program for CPUs, with one fault in it where --fault asks for one.

Its environment is that of torchrun (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT). The faults are
written as a user would make them, so that the call sites in a dump are what a user would see.
"""

import argparse
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FSDPModule

import data
import parallel
from checkpoint import save_checkpoint
from stall import StallDump

# The step at which a fault shows: late enough for healthy steps before it.
FAULT_STEP = 3
STEPS = 6
STALL_S = 3.0


def parse(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", default="none")
    parser.add_argument("--culprit", type=int, default=-1)
    parser.add_argument("--parallel", choices=("fsdp", "dp", "tp"), default="fsdp")
    parser.add_argument("--accumulate", type=int, default=1, help="blocks an optimizer step")
    parser.add_argument("--dump-at-step", type=int)
    parser.add_argument("--pickle-prefix", required=True)
    parser.add_argument("--json-prefix", required=True)
    return parser.parse_args(words)


class Trainer:
    def __init__(self, args):
        self.blocks = 0
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()
        self.parallel, self.accumulate = args.parallel, args.accumulate
        culprit = self.rank == args.culprit
        # What this rank does wrong; "none" on all ranks but the culprit.
        self.fault = args.fault if culprit else "none"
        # Whether it freezes a bias: its bucket of gradients is smaller from the fault's step on.
        self.freezes = args.fault == ("freezes_alone" if culprit else "forgets_to_freeze")
        if args.parallel == "fsdp":
            self.model = parallel.fsdp_model(self.world_size, self.accumulate > 1)
        elif args.parallel == "tp":
            self.model = parallel.tensor_and_data_parallel_model(self.world_size)
        else:
            self.model = parallel.make_model()
        self.metrics = dist.new_group(group_desc="metrics") if args.fault == "group_order" else None
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def loader(self):
        steps = FAULT_STEP if self.fault == "uneven_steps" else STEPS
        return data.blocks(steps, FAULT_STEP if self.fault == "hang" else None)

    def average_loss(self, loss):
        dist.all_reduce(loss, group=self.metrics)
        return loss / self.world_size

    def log_metric(self, loss):
        print(f"mean loss {self.average_loss(loss.clone()):.4f}", file=sys.stderr)

    def share_gradients(self, fault):
        if self.freezes and self.blocks >= FAULT_STEP:
            self.model[2].bias.grad = None
        if fault == "op_mismatch":
            dist.broadcast(self.model[0].weight.grad, src=0)
        elif fault in ("dtype_mismatch", "silent_dtype"):
            wrong = torch.bfloat16 if fault == "dtype_mismatch" else torch.int32
            parallel.average_gradients(self.model, dtype=wrong)
        else:
            parallel.average_gradients(self.model)

    def step(self, batch, fault):
        loss = self.model(batch).square().mean()
        loss.backward()
        loss = loss.detach()
        if fault == "group_order":
            self.average_loss(loss)
        if self.parallel == "dp":
            self.share_gradients(fault)
        if fault in ("crash", "exception"):
            raise ValueError(f"loss is not finite: {float('nan')}")
        if fault not in ("skipped", "group_order"):
            loss = self.average_loss(loss)
        if fault == "extra":
            self.log_metric(loss)
        self.blocks += 1
        if self.blocks % self.accumulate == 0:
            self.update()
        return loss

    def update(self):
        self.optimizer.step()
        self.optimizer.zero_grad()
        if self.parallel == "fsdp":
            for module in self.model.modules():
                if isinstance(module, FSDPModule):
                    module.reshard()


def train(trainer, watch):
    step = 0
    for batch in trainer.loader():
        loss = trainer.step(batch, trainer.fault if step == FAULT_STEP else "none")
        print(f"step {step} loss {loss:.4f}", file=sys.stderr, flush=True)
        watch.beat(step)
        step += 1
    save_checkpoint(step)


def main(words):
    args = parse(words)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    watch = StallDump(rank, args.pickle_prefix, args.json_prefix, STALL_S, args.dump_at_step)
    try:
        train(Trainer(args), watch)
    except Exception:
        if args.fault == "crash" and rank == args.culprit:
            sys.excepthook(*sys.exc_info())
            os._exit(1)  # as a native library would end it: nobody gets to dump
        watch.dump("the training loop raised")
        raise
    watch.stop()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1:])
