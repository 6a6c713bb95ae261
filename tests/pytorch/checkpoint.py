"""Saving, as many trainers do it: all ranks meet, rank 0 writes, all go on. Nothing is written."""

import sys

import torch.distributed as dist


def save_checkpoint(step):
    dist.barrier()
    if dist.get_rank() == 0:
        print(f"saved checkpoint of step {step}", file=sys.stderr)
    dist.barrier()
