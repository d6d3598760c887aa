"""The devices of the stand-in and what a test can do to them."""
import os

import torch

GIB = 2**30
up = False
bad_fork = False
history = False
stats_failure = None
backend = os.environ.get("STANDIN_BACKEND", "native")


def _stat(current, peak=None):
    row = {"current": current, "peak": current if peak is None else peak, "allocated": current, "freed": 0}
    return {"all": row, "small_pool": dict(row), "large_pool": dict(row)}


class Device:
    total = 80 * GIB

    def __init__(self, index):
        self.index = index
        self.allocated = self.reserved = self.split = self.retries = self.ooms = 0
        self.peak = 0
        self.fraction = 1.0
        self.observers = []
        self.segments = []
        self.override = {}

    def allocate(self, size):
        """One segment of the size's double, half of it free."""
        self.allocated += size
        self.reserved += 2 * size
        self.split += size
        self.peak = max(self.peak, self.reserved)
        segment = {"device": self.index, "address": 4096, "total_size": 2 * size, "allocated_size": size, "active_size": size, "stream": 0}
        segment["segment_type"] = "large"
        segment["blocks"] = [{"size": size, "state": "active_allocated"}, {"size": size, "state": "inactive"}]
        if torch.release >= (2, 1):
            segment["segment_pool_id"] = (0, 0)
            segment["is_expandable"] = False
        self.segments.append(segment)

    def stats(self):
        stats = {name: _stat(len(self.segments)) for name in ("allocation", "segment", "active", "inactive_split")}
        stats["allocated_bytes"] = stats["active_bytes"] = _stat(self.allocated)
        stats["reserved_bytes"] = _stat(self.reserved, self.peak)
        stats["inactive_split_bytes"] = _stat(self.split)
        stats.update(num_alloc_retries=self.retries, num_ooms=self.ooms, max_split_size=-1)
        if torch.release >= (2, 0):
            stats["requested_bytes"] = _stat(self.allocated)
        if torch.release >= (2, 12):
            stats["num_oom_rejections"] = 0
        stats.update(self.override)
        return stats

    def fail(self, size):
        """Runs out of memory as the allocator does: retry, count, observers, error."""
        self.retries += 1
        self.ooms += 1
        for observer in self.observers:
            if observer is None:
                raise RuntimeError("bad_function_call")
            observer(self.index, size, self.total, GIB)
        raise torch.cuda.OutOfMemoryError(
            "CUDA out of memory. Tried to allocate %.2f GiB. GPU %d has a total capacity of 80.00 GiB of which 1.00 GiB is free." % (size / GIB, self.index)
        )


devices = [Device(i) for i in range(int(os.environ.get("STANDIN_DEVICES", "1")))]


def _in_child():
    global bad_fork
    bad_fork = up


os.register_at_fork(after_in_child=_in_child)
