"""The three ways in which train.py spreads a model over ranks."""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

from data import WIDTH


def make_model():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(WIDTH, 2 * WIDTH), torch.nn.ReLU(), torch.nn.Linear(2 * WIDTH, WIDTH)
    )


def shard(model, mesh, gather_once=False):
    """`gather_once`: weights stay whole from one optimizer step to the next."""
    options = {"mesh": mesh, "reshard_after_forward": not gather_once}
    for layer in model:
        if isinstance(layer, torch.nn.Linear):
            fully_shard(layer, **options)
    fully_shard(model, **options)
    model.set_reshard_after_backward(not gather_once)
    return model


def fsdp_model(world_size, gather_once):
    return shard(make_model(), init_device_mesh("cpu", (world_size,)), gather_once)


def tensor_and_data_parallel_model(world_size):
    """Pairs of neighbours split each layer; the pairs split the data."""
    mesh = init_device_mesh("cpu", (world_size // 2, 2), mesh_dim_names=("dp", "tp"))
    model = parallelize_module(
        make_model(), mesh["tp"], {"0": ColwiseParallel(), "2": RowwiseParallel()}
    )
    return shard(model, mesh["dp"])


def average_gradients(model, group=None, dtype=torch.float32):
    """Data parallel by hand: one flat bucket of all gradients."""
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    bucket = torch.cat([g.reshape(-1) for g in gradients]).to(dtype)
    dist.all_reduce(bucket, group=group)
    bucket = bucket.to(torch.float32) / dist.get_world_size(group)
    for gradient, mean in zip(gradients, bucket.split([g.numel() for g in gradients])):
        gradient.copy_(mean.view_as(gradient))
