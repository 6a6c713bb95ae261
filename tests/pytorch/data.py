"""The data of one rank: packed blocks of tokens, as many as its share of the corpus gives."""

import time

import torch

BATCH = 4
WIDTH = 8


def read_block(index):
    generator = torch.Generator().manual_seed(index)
    return torch.randn(BATCH, WIDTH, generator=generator)


def wait_for_storage():
    """A file system that does not answer: the thread sits here until it is killed."""
    time.sleep(3600)


def blocks(count, stalls_at=None):
    for index in range(count):
        if index == stalls_at:
            wait_for_storage()
        yield read_block(index)
