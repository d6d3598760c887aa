"""Has file systems that never answer where the agent looks into a container: `silent.py directories` at /tmp and /dev, `silent.py entries` under the names that are looked for in them.

They are FUSE file systems in a mount namespace of this process: each answers the kernel's FUSE_INIT and reads every other request without an answer, so that
who asked waits in the kernel, where no signal ends it, until this process ends. Prints `ready` once all is mounted, then `asked OPCODE` for each request. Needs root.
"""
import ctypes
import os
import select
import struct
import sys

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
libc = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, "%s: %s" % (what, os.strerror(number)))


def answer_init(device, request):
    unique = struct.unpack_from("<Q", request, 8)[0]
    body = struct.pack("<IIIIHHIIHHI28x", 7, 31, 65536, 0, 12, 9, 65536, 1, 16, 0, 0)
    os.write(device, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)


def mount(device, path, mode):
    options = "fd=%d,rootmode=%s,user_id=0,group_id=0,allow_other" % (device, mode)
    check(libc.mount(b"silent", path.encode(), b"fuse.silent", 0, options.encode()), "mount " + path)
    answer_init(device, os.read(device, 1 << 17))


check(libc.unshare(CLONE_NEWNS), "unshare")
check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "private mounts")
# Opened first: the device lies in the /dev that is about to be covered.
devices = [os.open("/dev/fuse", os.O_RDWR) for _ in range(3)]
if sys.argv[1] == "directories":
    mount(devices[0], "/tmp", "40000")
    mount(devices[1], "/dev", "40000")
else:
    ticks = open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19]
    entries = ["/tmp/.warpwatch-%d-%s.sock" % (os.getpid(), ticks), "/dev/nvidia0", "/dev/nvidiactl"]
    for folder in (b"/tmp", b"/dev"):
        check(libc.mount(b"none", folder, b"tmpfs", 0, None), "mount tmpfs")
    for device, entry in zip(devices, entries):
        os.close(os.open(entry, os.O_CREAT | os.O_WRONLY))
        mount(device, entry, "100000")
os.write(1, b"ready\n")
while True:
    for device in select.select(devices[: 2 if sys.argv[1] == "directories" else 3], [], [])[0]:
        os.write(1, b"asked %d\n" % struct.unpack_from("<I", os.read(device, 1 << 17), 4)[0])
