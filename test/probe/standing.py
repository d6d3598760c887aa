"""Where a running program stands: what its threads wait for, their stacks, how much CPU time it got, and for how long it waited for more."""
import os
import shutil
import signal
import subprocess
import tempfile

TICKS = os.sysconf("SC_CLK_TCK")
STACKS_S = 120  # for gdb, which reads the symbols of all of torch's libraries
STACK_BYTES = 100_000
STARVED_SHARE = 0.5


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read(4096).decode("utf-8", "replace").strip()
    except OSError as error:
        return "? %s" % error.strerror


def _cpu(pid, tid):
    """{got_s, waited_s, disk_s} of one thread since it began: on a processor, ready to run without one, and waiting for a disk."""
    try:
        got_ns, waited_ns = _read("/proc/%d/task/%d/schedstat" % (pid, tid)).split()[:2]
        disk = _read("/proc/%d/task/%d/stat" % (pid, tid)).rpartition(")")[2].split()[39]
        return {"got_s": round(int(got_ns) / 1e9, 2), "waited_s": round(int(waited_ns) / 1e9, 2), "disk_s": int(disk) / TICKS}
    except (ValueError, IndexError):  # it has ended, or the kernel does not count this
        return None


def members(mark):
    """The processes with `TEST_END=mark` in their environment: a program and those it has left behind. (A session of its own would get a fairer share of the processors.)"""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/environ" % name, "rb") as file:
                    if b"TEST_END=%s" % mark.encode() in file.read().split(b"\0"):
                        found.append(int(name))
            except OSError:  # it has ended, or is not ours
                pass
    return found


def kill(mark):
    for pid in members(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def threads(mark):
    """{tid: {pid, state, wchan, syscall, and what _cpu gives}}"""
    found = {}
    for pid in members(mark):
        try:
            tids = sorted(map(int, os.listdir("/proc/%d/task" % pid)))
        except OSError:  # it has ended
            continue
        for tid in tids:
            folder = "/proc/%d/task/%d/" % (pid, tid)
            cpu = _cpu(pid, tid)
            if cpu is not None:
                state = (_read(folder + "stat").rpartition(")")[2].split() or ["?"])[0]
                found[tid] = dict(cpu, pid=pid, state=state, wchan=_read(folder + "wchan"), syscall=_read(folder + "syscall"))
    return found


def starvation(before, after, seconds):
    """How a thread spent the seconds between two looks (`before` may be empty: since the start), of the one that lacked a processor or the disk most.

    {"share", "got_s", "waited_s", "disk_s"}. A hang is asleep: its share is near 0.
    """
    worst = {"share": 0.0, "got_s": 0.0, "waited_s": 0.0, "disk_s": 0.0}
    for tid, now in after.items():
        then = before.get(tid, {})
        spent = {name: round(now[name] - then.get(name, 0), 2) for name in ("got_s", "waited_s", "disk_s")}
        share = (spent["waited_s"] + spent["disk_s"]) / seconds
        if share > worst["share"]:
            worst = dict(spent, share=round(share, 3))
    return worst


def is_starved(spent):
    return spent["share"] >= STARVED_SHARE


def stacks(mark):
    """{pid: stacks} of the first few processes."""
    return {pid: _stacks(pid) for pid in members(mark)[:4]}


def _stacks(pid):
    """Native stacks of all threads and, of Python, what faulthandler would print; None without gdb or the right to attach."""
    if shutil.which("gdb") is None:
        return None
    folder = tempfile.mkdtemp(prefix="wws-")
    path = os.path.join(folder, "python")
    # O_WRONLY | O_CREAT; the functions' types are written out, since there may be no symbols but the exported ones.
    opened = '((int (*)(const char*, int, int)) open)("%s", 65, 384)' % path
    dump = "((char* (*)(int, void*, void*)) _Py_DumpTracebackThreads)($fd, (void*) 0, (void*) 0)"
    asked = ["set pagination off", "set confirm off", "thread apply all bt 30", "set unwindonsignal on", "set $fd = %s" % opened, "print %s" % dump]
    try:
        command = ["gdb", "-q", "-nx", "-batch", "-p", str(pid)] + [part for each in asked for part in ("-ex", each)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=STACKS_S)
        native = done.stdout.decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired) as error:
        native = "gdb: %s" % error
    try:
        with open(path, "rb") as file:
            python = file.read(STACK_BYTES).decode("utf-8", "replace")
    except OSError:
        python = None
    shutil.rmtree(folder, True)
    return {"native": native[-STACK_BYTES:], "python": python}
