"""Random histories of the exact allocator model: one JSON line a step with what a probe and the driver would say, and what is exactly true.

allocator-states.py FOLDER-OF-THE-MODEL SEED STEPS
"""
import json
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])

from allocator import GIB, MIB, CachingAllocator, Device, OutOfMemory  # noqa: E402

seed, steps = int(sys.argv[2]), int(sys.argv[3])
rng = random.Random(seed)
expandable = rng.random() < 0.4
capacity = rng.randrange(2, 9) * GIB
device = Device(capacity, limit=int(capacity * rng.uniform(0.3, 0.9)) if rng.random() < 0.3 else None)
a, live, flushed = CachingAllocator(device, expandable), [], []
a.on_flush = lambda: flushed.append(a.stranded())
high = rng.uniform(8.3, 9.2)
for step in range(steps):
    failed = False
    if live and rng.random() < 0.48:
        a.free(live.pop(rng.randrange(len(live))))
    else:
        try:
            live.append(a.malloc(int(10 ** rng.uniform(2.7, high))))
        except OutOfMemory:
            failed = True
    if rng.random() < 0.3:
        device.foreign = min(device.foreign + rng.randrange(0, 4) * MIB, capacity - a.reserved)
    print(json.dumps({
        'stats': a.stats(), 'expandable': expandable, 'limit_bytes': device.limit, 'capacity': capacity, 'free_bytes': a.device_free(),
        'obtainable': a.obtainable(), 'unreleasable': a.reserved - a.releasable(), 'stranded': a.stranded(), 'failed': failed,
        'stranded_at_flush': flushed[-1] if flushed else None,
    }))
    if failed:
        for _ in range(len(live) // 2):
            a.free(live.pop(rng.randrange(len(live))))
