#!/usr/bin/env python3
"""PyTorch's FSDP2 on this machine's cores, by turns with ours, on the same small model.

    PYTHON bench/train_engine_fsdp2.py build/release/bench/train_engine_bench [rounds [steps]]

PYTHON has torch (2.6 or newer). Each rank is a process with one thread on a core of its own; FSDP2
shards every layer and the rest, over gloo, with AdamW (fused), a clip of 1 and the loss of every
step read, as ours. Per core: tokens for each second that the processor worked for the ranks, which
other work on the machine disturbs little; by the clock: on an idle machine alone.
"""

import os
import re
import statistics
import subprocess
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

VOCABULARY, HIDDEN, INNER, LAYERS, HEADS, KV_HEADS, HEAD_DIM = 4096, 256, 768, 4, 8, 2, 32
SEQUENCES, LENGTH = 4, 256


class Layer(nn.Module):
    """A decoder layer of Qwen3, with the fused operations that PyTorch has."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(HIDDEN, HEADS * HEAD_DIM, bias=False)
        self.k = nn.Linear(HIDDEN, KV_HEADS * HEAD_DIM, bias=False)
        self.v = nn.Linear(HIDDEN, KV_HEADS * HEAD_DIM, bias=False)
        self.o = nn.Linear(HEADS * HEAD_DIM, HIDDEN, bias=False)
        self.q_norm, self.k_norm = nn.RMSNorm(HEAD_DIM, 1e-6), nn.RMSNorm(HEAD_DIM, 1e-6)
        self.gate = nn.Linear(HIDDEN, INNER, bias=False)
        self.up = nn.Linear(HIDDEN, INNER, bias=False)
        self.down = nn.Linear(INNER, HIDDEN, bias=False)
        self.before, self.between = nn.RMSNorm(HIDDEN, 1e-6), nn.RMSNorm(HIDDEN, 1e-6)

    def forward(self, x, cos, sin):
        def turned(heads):
            a, b = heads.chunk(2, -1)
            return heads * cos + torch.cat((-b, a), -1) * sin

        n, t, _ = x.shape
        y = self.before(x)
        q = turned(self.q_norm(self.q(y).view(n, t, HEADS, HEAD_DIM)).transpose(1, 2))
        k = turned(self.k_norm(self.k(y).view(n, t, KV_HEADS, HEAD_DIM)).transpose(1, 2))
        v = self.v(y).view(n, t, KV_HEADS, HEAD_DIM).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(n, t, HEADS * HEAD_DIM))
        y = self.between(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, HIDDEN)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.RMSNorm(HIDDEN, 1e-6)
        self.head = nn.Linear(HIDDEN, VOCABULARY, bias=False)
        turns = torch.outer(
            torch.arange(LENGTH), 1e6 ** (-torch.arange(0, HEAD_DIM, 2).float() / HEAD_DIM)
        )
        turns = torch.cat((turns, turns), -1)
        self.register_buffer("cos", turns.cos())
        self.register_buffer("sin", turns.sin())

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, self.cos.to(x.dtype), self.sin.to(x.dtype))
        return self.head(self.norm(x))


def be_rank(rank, world, dtype, steps, port, results):
    os.sched_setaffinity(0, {rank % os.cpu_count()})
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)
    torch.manual_seed(1)
    model = Model()
    policy = MixedPrecisionPolicy()
    if dtype == "bf16":
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    mesh = init_device_mesh("cpu", (world,))
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    adamw = torch.optim.AdamW(model.parameters(), 1e-4, weight_decay=0.0, fused=True)
    ids = (torch.arange(SEQUENCES * LENGTH) * 2654435761 % VOCABULARY).view(SEQUENCES, LENGTH)
    for step in range(steps + 1):
        if step == 1:  # the first one finds its memory
            clock, processor = time.perf_counter(), time.process_time()
        logits = model(ids)[:, :-1].float()
        loss = F.cross_entropy(logits.reshape(-1, VOCABULARY), ids[:, 1:].reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adamw.step()
        adamw.zero_grad()
        whole = loss.detach()
        dist.all_reduce(whole)
        whole.item()
    results.put((time.perf_counter() - clock, time.process_time() - processor))
    dist.barrier()
    dist.destroy_process_group()


def fsdp2(dtype, world, steps):
    """Tokens a second by the clock, and for each second of the processor."""
    context = mp.get_context("spawn")
    results = context.Queue()
    port = 20000 + os.getpid() % 20000
    ranks = mp.spawn(be_rank, (world, dtype, steps, port, results), world, join=False)
    times = [results.get() for _ in range(world)]
    ranks.join()
    tokens = steps * world * SEQUENCES * LENGTH
    return tokens / max(t[0] for t in times), tokens / sum(t[1] for t in times)


def ours(program, dtype, world, steps):
    text = subprocess.run(
        [program, dtype, str(world), str(steps)], capture_output=True, text=True, check=True
    ).stdout
    return tuple(float(number) for number in re.findall(r"[0-9.]+", text)[-2:])


def main():
    program = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    print("torch", torch.__version__, "load", os.getloadavg()[0])
    for dtype in ("f32", "bf16"):
        for world in (1, 2):
            rows = [
                (ours(program, dtype, world, steps), fsdp2(dtype, world, steps))
                for _ in range(rounds)
            ]
            for what, i in (("by the clock", 0), ("per core", 1)):
                mine = statistics.median(row[0][i] for row in rows)
                theirs = statistics.median(row[1][i] for row in rows)
                print(
                    f"{dtype} {world} ranks, {what}: ours {mine:.0f} tokens/s, FSDP2 {theirs:.0f},"
                    f" {mine / theirs:.2f} times",
                    flush=True,
                )


if __name__ == "__main__":
    main()
