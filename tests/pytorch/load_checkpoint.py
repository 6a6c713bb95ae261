"""Loads a checkpoint of the trainer with the libraries that people will use: load_checkpoint.py FOLDER TIED.

Prints WRONG and exits 1 where transformers misses a weight, finds one too many, or reads other
numbers than stand in the exact state.
"""
import glob
import sys

import torch
from safetensors import safe_open
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM


def wrong(text):
    print("WRONG", text)
    sys.exit(1)


folder, tied = sys.argv[1], sys.argv[2] == "tied"
model, info = AutoModelForCausalLM.from_pretrained(
    folder, dtype=torch.bfloat16, output_loading_info=True)
for key in ("missing_keys", "unexpected_keys", "mismatched_keys"):
    if info[key]:
        wrong(f"{key}: {info[key]}")

saved = {}
for path in sorted(glob.glob(folder + "/*.safetensors")):
    with safe_open(path, "pt") as file:
        if file.metadata() != {"format": "pt"}:
            wrong(f"metadata of {path}: {file.metadata()}")
    saved.update(load_file(path))
state = model.state_dict()
if ("lm_head.weight" in saved) == tied:
    wrong("lm_head.weight")
for name, tensor in saved.items():
    if tensor.dtype != torch.bfloat16 or not torch.equal(state[name], tensor):
        wrong(name)

# A unit of the exact state, put together from its slices, is its weights before they were rounded.
shards = [load_file(path) for path in sorted(glob.glob(folder + "/state/*.safetensors"))]
flat = torch.cat([shard["embed.master"] for shard in shards])
embed = saved["model.embed_tokens.weight"]
if not torch.equal(flat[: embed.numel()].to(torch.bfloat16), embed.flatten()):
    wrong("embed.master")
with torch.no_grad():
    logits = model(torch.arange(8).unsqueeze(0)).logits
if not torch.isfinite(logits).all():
    wrong("logits")
print("right", len(saved), "tensors")
