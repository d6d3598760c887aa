"""A program with the probe and the stand-in for torch: it does what the files in its folder ask for, one after the other, and says when it is done."""
import os
import sys
import time

folder = sys.argv[1]

import torch  # noqa: E402
from torch import _state as state  # noqa: E402

torch.cuda.init()
device = state.devices[0]
device.allocate(4 * 2**30)


def asked(name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return False
    os.unlink(path)
    return True


def done(name, text=""):
    with open(os.path.join(folder, "part"), "w") as file:
        file.write(text)
    os.rename(os.path.join(folder, "part"), os.path.join(folder, name + "-done"))


def sockets():
    found = 0
    for fd in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink("/proc/self/fd/" + fd).startswith("socket:")
        except OSError:
            pass
    return found


done("start")
while True:
    if asked("oom"):
        try:
            device.fail(2 * 2**30)
        except torch.OutOfMemoryError:
            pass
        done("oom")
    if asked("fork"):
        child = os.fork()
        if child == 0:  # as a worker of a DataLoader: it holds no GPU memory and does not use CUDA
            time.sleep(1.5)
            with open(os.path.join(folder, "child-part"), "w") as file:
                file.write("%d %d" % (len(os.listdir("/proc/self/task")), sockets()))
            os.rename(os.path.join(folder, "child-part"), os.path.join(folder, "child-done"))
            os._exit(0)
        os.waitpid(child, 0)
        done("fork")
    if asked("crash"):
        device.fail(3 * 2**30)
    if asked("end"):
        sys.exit(0)
    time.sleep(0.02)
