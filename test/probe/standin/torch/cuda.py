"""torch.cuda of the stand-in."""
import os
import threading

import torch
from torch import _state as state

_queued_calls = []


class OutOfMemoryError(RuntimeError):
    pass


def asked(name):
    torch._C.asked(name)


def is_initialized():
    return state.up and not state.bad_fork


def _is_in_bad_fork():
    return state.bad_fork


def init():
    if is_initialized():
        return
    if state.bad_fork:
        raise RuntimeError("Cannot re-initialize CUDA in forked subprocess")
    for call in _queued_calls:
        call()
    state.up = True


def device_count():
    asked("device_count")
    return len(state.devices)


def is_available():
    asked("is_available")
    return True


def current_device():
    asked("current_device")
    return 0


def mem_get_info(device=None):
    raise AssertionError("may create a context")


def memory_stats_as_nested_dict(device=None):
    return torch._C._memory_stats(device) if is_initialized() else {}


class Properties:
    def __init__(self, index):
        self.name = os.environ.get("STANDIN_NAME", "NVIDIA H100 80GB HBM3")
        self.total_memory = state.devices[index].total
        if torch.release >= (2, 4):
            self.uuid = "00000000-1111-2222-3333-%012d" % index
            self.pci_domain_id, self.pci_bus_id, self.pci_device_id = 0, 0x1B + index, 0


def get_device_properties(device):
    asked("get_device_properties")
    return Properties(device)


def set_per_process_memory_fraction(fraction, device=0):
    init()
    torch._C._cuda_setMemoryFraction(fraction, device)


if torch.release >= (2, 0):

    def get_allocator_backend():
        return state.backend


if torch.release >= (2, 6):

    def get_per_process_memory_fraction(device=None):
        asked("_cuda_getMemoryFraction")
        return state.devices[device].fraction


if torch.release >= (2, 12):

    def memory_snapshot(mempool_id=None, include_traces=True):
        return torch._C._memory_snapshot(include_traces)

else:

    def memory_snapshot():
        return torch._C._memory_snapshot()


if os.environ.get("STANDIN_LAZY") != "0":
    _initialization_lock = threading.Lock()

    def _lazy_call(callable, **kwargs):
        with _initialization_lock:
            if is_initialized():
                callable()
            else:
                _queued_calls.append(callable)


def reset_peak_memory_stats(device=0):
    raise AssertionError("a probe must never reset")
