"""The tiny model of bench/train_math_bench.cc in PyTorch, sharded by FSDP2 over one rank, on one
thread: forward and backward, tokens in a second of that thread, median.

    PYTHON bench/train_fsdp2.py [rounds]     PYTHON has torch 2.8 or newer, and transformers
"""

import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
import transformers
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

BATCH, LENGTH, VOCABULARY = 4, 256, 4096


def model_of(kind, attention):
    config = transformers.Qwen3Config(
        vocab_size=VOCABULARY, hidden_size=256, intermediate_size=768, num_hidden_layers=4,
        num_attention_heads=8, num_key_value_heads=2, head_dim=32, max_position_embeddings=256,
        tie_word_embeddings=False, attn_implementation=attention)
    model = transformers.Qwen3ForCausalLM(config).train()
    mesh = dist.init_device_mesh("cpu", (1,))
    policy = MixedPrecisionPolicy(param_dtype=kind, reduce_dtype=torch.float32)
    for layer in model.model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return model


def seconds():
    return time.process_time()


def main(rounds):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "0")
    torch.set_num_threads(1)
    store = dist.HashStore()
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    torch.manual_seed(1)
    ids = torch.randint(VOCABULARY, (BATCH, LENGTH))
    for kind in (torch.float32, torch.bfloat16):
        for attention in ("sdpa", "eager"):
            model = model_of(kind, attention)
            took = []
            for _ in range(rounds + 2):
                begin = seconds()
                model(input_ids=ids, labels=ids).loss.backward()
                took.append(seconds() - begin)
                model.zero_grad()
            rate = BATCH * LENGTH / statistics.median(took[2:])
            print(f"{str(kind):15} {attention:6} {rate:7.0f} tokens/s", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
