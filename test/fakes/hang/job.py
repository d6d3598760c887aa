"""A job that prints its steps and then stops in one of many ways: `job.py WAY SECONDS`. Ways that are no hang last SECONDS, and then it goes on.

The lines at which it stops end with `# WAY`.
"""
import ctypes
import fcntl
import multiprocessing
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

WAY, SECONDS = sys.argv[1], float(sys.argv[2])
RANK = int(os.environ.get("RANK", "-1"))
# What the file of a frame is called is all that says that a rank waits for the others, as in the real library.
LIBRARY = "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py"
torch = {}
exec(compile("def all_reduce(event):\n    event.wait()\ndef barrier(event):\n    event.wait()\n", LIBRARY, "exec"), torch)


def silent_file():
    """A file on a FUSE file system that never answers; a process of its own has the device, so that it can be ended."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x20000) != 0 or libc.mount(b"none", b"/", None, 0x44000, None) != 0:
        raise OSError(ctypes.get_errno(), "mount namespace")
    path = tempfile.mkstemp()[1]
    device = os.open("/dev/fuse", os.O_RDWR)
    options = "fd=%d,rootmode=100000,user_id=0,group_id=0,allow_other" % device
    if libc.mount(b"silent", path.encode(), b"fuse.silent", 0, options.encode()) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    unique = struct.unpack_from("<Q", os.read(device, 1 << 17), 8)[0]
    body = struct.pack("<IIIIHHIIHHI28x", 7, 31, 65536, 0, 12, 9, 65536, 1, 16, 0, 0)
    os.write(device, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)
    if os.fork() == 0:
        while True:
            os.read(device, 1 << 17)
    os.close(device)
    return path


def lock():
    held = threading.Lock()
    held.acquire()
    held.acquire()  # lock


def file_lock():
    name = os.path.join(tempfile.mkdtemp(), "lock")
    one, two = open(name, "w"), open(name, "w")
    fcntl.flock(one, fcntl.LOCK_EX)
    fcntl.flock(two, fcntl.LOCK_EX)  # file_lock


def fuse():
    open(silent_file()).read()  # fuse


def terminal():
    input()  # terminal


def gil():
    ctypes.PyDLL(None).sleep(100000)  # gil


def loop():
    x = 0
    # On one line: a look may find it at the head of the loop as well.
    while True: x += 1  # loop


def stopped():
    os.kill(os.getpid(), signal.SIGSTOP)  # stopped


def network():
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    client = socket.create_connection(server.getsockname())
    client.recv(1)  # network


def read_batches(queue):
    os.kill(os.getpid(), signal.SIGKILL)
    queue.put(1)


def worker():
    queue = multiprocessing.Queue()
    multiprocessing.Process(target=read_batches, args=(queue,), daemon=True).start()
    queue.get()  # worker


def join_others():
    torch["all_reduce"](threading.Event())  # others


def dead_peer():
    if RANK == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    join_others()


def uneven():
    if RANK == 1:
        torch["barrier"](threading.Event())  # uneven
    join_others()


def one_elsewhere():
    if RANK == 1:
        lock()
    join_others()


def save_checkpoint():
    with tempfile.NamedTemporaryFile() as file:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            file.write(b"x" * 65536)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            time.sleep(0.01)


def compile_model():
    # A third of a core: what it is called says that it compiles. Other tests go first.
    os.nice(19)
    until, x = time.monotonic() + SECONDS, 0
    while time.monotonic() < until:
        x += 1
        if x % 100000 == 0:
            time.sleep(0.02)


def evaluate():
    compile_model()


def rank_0_saves():
    if RANK == 0:
        save_checkpoint()
    else:
        event = threading.Event()
        threading.Timer(SECONDS, event.set).start()
        torch["barrier"](event)


def first_steps_one_elsewhere():
    one_elsewhere()


def first_steps_one_works():
    if RANK == 1:
        os.nice(19)
        until, x = time.monotonic() + SECONDS, 0
        while time.monotonic() < until:
            x += 1
    else:
        event = threading.Event()
        threading.Timer(SECONDS, event.set).start()
        torch["barrier"](event)


RANKS = {"dead_peer": 3, "uneven": 4, "one_elsewhere": 3, "rank_0_saves": 2, "first_steps_one_elsewhere": 3, "first_steps_one_works": 2}
if WAY in RANKS and RANK < 0:
    count = RANKS[WAY]
    for rank in range(count):
        local = {"RANK": str(rank), "WORLD_SIZE": str(count), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(count)}
        subprocess.Popen([sys.executable] + sys.argv, env={**os.environ, **local})
    while True:
        os.wait()

steps = 0


def train(count, seconds=0.25):
    global steps
    for _ in range(count):
        steps += 1
        if RANK <= 0:
            print("step %d/100000 loss=%.4f" % (steps, 1 / steps), flush=True)
        time.sleep(seconds)


# Three steps are too few to know how often it makes one.
if WAY.startswith("first_steps"):
    train(3, 2.5)
else:
    train(48)
globals()[WAY]()
train(100000)
