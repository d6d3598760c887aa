"""A rank of NCCL's RAS: `ras.py PORT LIBRARY COUNT [netns]`. Maps LIBRARY, whose name says the version, listens on PORT (shared with others), and
answers one STATUS each with COUNT operations of its own process. Prints every command that it gets."""
import ctypes
import fcntl
import json
import mmap
import os
import socket
import struct
import sys

port, library, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
if sys.argv[4:] == ["netns"]:
    if ctypes.CDLL(None, use_errno=True).unshare(0x40000000) != 0:
        raise OSError(ctypes.get_errno(), "network namespace")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh22x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
with open(library, "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
me = {"rank": 0, "host": "127.0.0.1", "pid": os.getpid(), "collective_counts": {"AllReduce": count}}
status = {"nccl_version": "2.29.7", "communicators": [{"hash": "0x%d" % count, "size": 1, "ranks": [me]}]}
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
server.bind(("127.0.0.1", port))
server.listen()
print("ready", server.getsockname()[1], flush=True)
while True:
    client, _ = server.accept()
    for line in client.makefile("r"):
        print(line.strip(), flush=True)
        if line.startswith("SET FORMAT"):
            client.sendall(b"OK\n")
        else:
            client.sendall(json.dumps(status).encode())
            break
    client.shutdown(socket.SHUT_RDWR)
    client.close()
