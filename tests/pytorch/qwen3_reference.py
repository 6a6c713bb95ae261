"""What Hugging Face's Qwen3 makes of random weights: the reference of qwen3_parity_test.

    qwen3_reference.py FOLDER...

Each FOLDER has config.json (of a tiny model) and plan.txt (a line for each tensor: unit, name, sides).
Written beside them: hf/config.json as the library saves it; for each unit weights.UNIT.f32 and
gradients.UNIT.f32, its tensors one after the other; ids.i32, sequences x 96; logits.f32;
logits_bf16.f32, computed in bf16; loss.txt, the mean over all labels.
Exit status 77: transformers is not installed.
"""

import json
import pathlib
import sys

import numpy
import torch

try:
    import transformers
except ImportError:
    sys.exit(77)

SEQUENCES, LENGTH = 2, 96


def tensors_of(folder, model):
    named = dict(model.named_parameters())
    units = {}
    for line in (folder / "plan.txt").read_text().splitlines():
        unit, name, *sides = line.split()
        tensor = named.pop(name)
        if list(tensor.shape) != [int(side) for side in sides]:
            sys.exit(f"WRONG: {name} is {list(tensor.shape)} here, {sides} there")
        units.setdefault(unit, []).append(tensor)
    if named:
        sys.exit(f"WRONG: only here: {sorted(named)}")
    return units


def write(folder, kind, units, of):
    for unit, tensors in units.items():
        flat = [of(tensor).detach().float().numpy().ravel() for tensor in tensors]
        numpy.concatenate(flat).tofile(folder / f"{kind}.{unit}.f32")


def main(folder):
    torch.manual_seed(7)
    torch.set_num_threads(1)
    settings = json.loads((folder / "config.json").read_text())
    config = transformers.Qwen3Config(**settings, attn_implementation="eager")
    model = transformers.Qwen3ForCausalLM(config).train()
    with torch.no_grad():
        for parameter in model.parameters():  # large enough for every part to matter
            middle = 1.0 if parameter.dim() == 1 else 0.0
            parameter.normal_(middle, 0.1)
    model.config.save_pretrained(folder / "hf")
    units = tensors_of(folder, model)
    write(folder, "weights", units, lambda tensor: tensor)
    ids = torch.randint(config.vocab_size, (SEQUENCES, LENGTH))
    ids.int().numpy().tofile(folder / "ids.i32")
    out = model(input_ids=ids, labels=ids)
    out.logits.detach().numpy().tofile(folder / "logits.f32")
    (folder / "loss.txt").write_text(f"{out.loss.item():.9f}\n")
    out.loss.backward()
    write(folder, "gradients", units, lambda tensor: tensor.grad)
    with torch.no_grad():
        half = model.to(torch.bfloat16)(input_ids=ids).logits
    half.float().numpy().tofile(folder / "logits_bf16.f32")
    print(f"torch {torch.__version__}, transformers {transformers.__version__}")


if __name__ == "__main__":
    for word in sys.argv[1:]:
        main(pathlib.Path(word))
