"""Random histories of the allocator simulator as memory snapshots, with what the simulator knows about requests on each.

usage: histories.py SIMULATOR_FOLDER OUT_FOLDER SEED COUNT    writes OUT/N.pickle and OUT/index.json
"""
import json
import os
import pickle
import random
import sys

sys.path.insert(0, sys.argv[1])
import allocator as sim  # noqa: E402

MIB, GIB = sim.MIB, sim.GIB
SITES = ['step', 'attention', 'optimizer', 'activation']


def size_of(rnd):
    kind = rnd.random()
    if kind < 0.4:
        return rnd.randint(1, MIB)
    if kind < 0.7:
        return rnd.randint(MIB + 1, 10 * MIB)
    return rnd.randint(10 * MIB, 400 * MIB)


def build(seed):
    """The allocator after a random history; the same for the same seed."""
    rnd = random.Random(seed)
    expandable = rnd.random() < 0.5
    device = sim.Device(rnd.randint(1, 4) * GIB)
    device.foreign = rnd.randint(0, 200) * MIB
    allocator = sim.CachingAllocator(device, expandable)
    live = []
    for _ in range(rnd.randint(20, 400)):
        if live and rnd.random() < 0.47:
            allocator.free(live.pop(rnd.randrange(len(live))))
            continue
        try:
            live.append(allocator.malloc(size_of(rnd)))
        except sim.OutOfMemory:
            for _ in range(len(live) // 3):
                allocator.free(live.pop(rnd.randrange(len(live))))
        if rnd.random() < 0.01:
            allocator.release_cached()
    return allocator, live, rnd


def runs_of(allocator, live):
    """Runs of mapped blocks that touch each other: a segment each."""
    known = {id(block): block for block in live}
    for pool in (allocator.small, allocator.large):
        known.update((id(block), block) for _, _, block in pool.free)
    for block in sorted(known.values(), key=lambda one: one.address):
        if block.prev is not None and block.prev.mapped:
            continue
        run = []
        while block is not None and block.mapped:
            run.append(block)
            block = block.next
        yield run


def segment_of(run, expandable, rnd):
    blocks = []
    for block in run:
        name = SITES[block.size // 512 % len(SITES)]
        frames = [{'name': 'empty', 'filename': '/usr/lib/python3/dist-packages/torch/functional.py', 'line': 1},
                  {'name': name, 'filename': '/home/me/train.py', 'line': 10 + len(name)}]
        blocks.append({'address': block.address, 'size': block.size, 'requested_size': block.requested if block.live else 0,
                       'state': 'active_allocated' if block.live else 'inactive', 'frames': frames if block.live else []})
    total = sum(block.size for block in run)
    return {'device': 0, 'address': run[0].address, 'total_size': total, 'stream': 0, 'segment_pool_id': (0, 0),
            'segment_type': 'small' if run[0].pool.small else 'large', 'is_expandable': expandable,
            'allocated_size': sum(block.size for block in run if block.live), 'frames': [], 'blocks': blocks}


def snapshot_of(allocator, live, rnd):
    segments = [segment_of(run, allocator.expandable, rnd) for run in runs_of(allocator, live)]
    return {'segments': segments, 'device_traces': [[]],
            'allocator_settings': {'PYTORCH_CUDA_ALLOC_CONF': '', 'max_split_size': -1, 'expandable_segments': allocator.expandable,
                                   'roundup_power2_divisions': {str(2 ** power): 0 for power in range(16)}}}


def requests_for(allocator, rnd):
    edge = [allocator.largest_free(), allocator.largest_free(True), allocator.obtainable(), allocator.device_free()]
    sizes = [size_of(rnd), rnd.randint(1, 2 * GIB)]
    for size in edge:
        sizes += [size - 512, size, size + 1]
    return [size for size in sizes if size > 0]


def succeeds(seed, size):
    allocator, _, _ = build(seed)
    try:
        allocator.malloc(size)
        return True
    except sim.OutOfMemory:
        return False


def main():
    out, first, count = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    index = []
    for seed in range(first, first + count):
        allocator, live, rnd = build(seed)
        path = os.path.join(out, '%d.pickle' % seed)
        with open(path, 'wb') as file:
            pickle.dump(snapshot_of(allocator, live, rnd), file, protocol=2 + seed % 4)
        requests = [{'bytes': size, 'would_fit': allocator.would_fit(size), 'succeeds': succeeds(seed, size)} for size in requests_for(allocator, rnd)]
        index.append({'file': path, 'expandable': allocator.expandable, 'device_free': allocator.device_free(), 'reserved': allocator.reserved,
                      'allocated': allocator.allocated, 'requested': allocator.requested, 'releasable': allocator.releasable(),
                      'stranded': allocator.stranded(), 'inactive_split': allocator.inactive_split,
                      'largest_small': allocator.largest_free(True), 'largest_large': allocator.largest_free(), 'requests': requests})
    with open(os.path.join(out, 'index.json'), 'w') as file:
        json.dump(index, file)


main()
