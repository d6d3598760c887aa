"""Random allocator states in which a request failed, and what would_fit says of each without one of its causes.

Usage: oom-states.py ALLOCATOR_SIM SEED COUNT. One JSON object a line.
"""
import json
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])

from allocator import GIB, MIB, CachingAllocator, Device, OutOfMemory  # noqa: E402

rng = random.Random(int(sys.argv[2]))


def failure():
    total = rng.choice((8, 16, 24)) * GIB
    context = 600 * MIB
    others = rng.choice((0, rng.randint(0, total // 2)))
    outside = rng.choice((0, rng.randint(0, total // 4)))
    limit = int(total * rng.uniform(0.2, 0.9)) if rng.random() < 0.4 else None
    device = Device(total, limit)
    device.foreign = context + others + outside
    allocator = CachingAllocator(device)
    live, largest = [], rng.choice((64 * MIB, 512 * MIB, 3 * GIB))
    for _ in range(4000):
        size = int(rng.uniform(512, largest) ** rng.choice((0.9, 1)))
        try:
            live.append(allocator.malloc(size))
        except OutOfMemory as error:
            if rng.random() < 0.7 and live:  # a job that goes on: frees some and tries again
                for _ in range(rng.randint(1, len(live))):
                    allocator.free(live.pop(rng.randrange(len(live))))
                continue
            return error, allocator, device, context, others, outside
        if live and rng.random() < 0.3:
            allocator.free(live.pop(rng.randrange(len(live))))
    return None


def main():
    for _ in range(int(sys.argv[3])):
        found = failure()
        if not found:
            continue
        error, allocator, device, context, others, outside = found
        foreign, limit = device.foreign, device.limit
        state = {'requested': error.segment, 'rounded': error.rounded, 'total': device.capacity, 'limit': limit, 'free': allocator.device_free(),
                 'allocated': allocator.allocated, 'reserved': allocator.reserved, 'context': context, 'others': others, 'outside': outside,
                 'fits': allocator.would_fit(error.request)}
        device.foreign = foreign - others
        state['fits_without_others'] = allocator.would_fit(error.request)
        device.foreign = foreign - outside
        state['fits_without_outside'] = allocator.would_fit(error.request)
        device.foreign, device.limit = foreign, None
        state['fits_without_limit'] = allocator.would_fit(error.request)
        # Without what is stranded: the same live bytes, and nothing reserved beside them.
        device.limit, stranded = limit, allocator.reserved - allocator.allocated
        if limit is not None:
            device.limit = limit + stranded
        device.foreign = foreign - stranded
        state['fits_without_stranded'] = allocator.would_fit(error.request)
        print(json.dumps(state))


main()
