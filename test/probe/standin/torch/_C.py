"""What the real torch._C binds, as far as its release has it. Each call is noted; one before CUDA is up is what the probe must never make."""
import os

import torch
from torch import _state as state

early = []  # names of calls made before CUDA was up


def asked(name):
    if not state.up:
        early.append(name)


def _attach(observer):
    asked("_cuda_attach_out_of_memory_observer")
    if not state.up:
        os.abort()  # 2.0 crashes, later ones bring CUDA up
    if state.backend != "native":
        raise RuntimeError("%s does not yet support attachOutOfMemoryObserver" % state.backend)
    for i, device in enumerate(state.devices):
        if torch.release < (2, 1) and i > 0:
            break
        # 2.1 to 2.3 move the observer into the first device and leave the others an empty one
        device.observers.append(observer if i == 0 or torch.release >= (2, 4) else None)


def _memory_stats(i):
    asked("_cuda_memoryStats")
    if state.stats_failure is not None:
        raise state.stats_failure
    return state.devices[i].stats()


def _memory_snapshot(traces=True):
    asked("_cuda_memorySnapshot")
    if state.history and traces:
        raise AssertionError("the history came along")
    return [segment for device in state.devices for segment in device.segments]


def _cuda_setMemoryFraction(fraction, device):
    asked("_cuda_setMemoryFraction")
    state.devices[device].fraction = fraction


def _cuda_cudaCachingAllocator_set_allocator_settings(text):
    asked("_cuda_cudaCachingAllocator_set_allocator_settings")


if torch.release >= (2, 0):
    _cuda_attach_out_of_memory_observer = _attach
if torch.release >= (2, 1):

    def _cuda_isHistoryEnabled():
        return state.history
