"""A rank of a real job over Gloo, `gloo.py WAY SECONDS`: it adds up a tensor with the others each step, until one rank does something else.

The lines at which that rank stands end with `# WAY`; `save` lasts SECONDS, and then it goes on.
"""
import fcntl
import os
import subprocess
import sys
import threading
import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
WAY, SECONDS = sys.argv[1], float(sys.argv[2])


class Shards(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, i):
        if WAY == "dataloader" and dist.get_rank() == 1 and i == STOP:
            time.sleep(100_000)
        return torch.ones(4)


def lock():
    held = threading.Lock()
    held.acquire()
    held.acquire()  # lock


def file_lock():
    one, two = open("/tmp/cache", "w"), open("/tmp/cache", "w")
    fcntl.flock(one, fcntl.LOCK_EX)
    fcntl.flock(two, fcntl.LOCK_EX)  # file_lock


def program():
    subprocess.run(["/bin/sleep", "100000"])  # program


def save():
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        torch.save(torch.ones(1 << 20), "/tmp/state.pt")


def train():
    rank = dist.get_rank()
    batches = iter(DataLoader(Shards(), num_workers=1 if WAY == "dataloader" else 0))
    for step in range(100_000):
        next(batches)  # dataloader
        if step == STOP and rank == 1 and WAY != "dataloader":
            globals()[WAY]()
        dist.all_reduce(torch.ones(8))
        if rank == 0:
            print("step %d/100000 loss %.4f" % (step, 3.0 / (step + 1)), flush=True)
        time.sleep(0.25)


# The first steps of some are too few to know how often it makes one.
STOP = 2 if WAY == "program" else 30
dist.init_process_group("gloo")
train()
