"""Warpwatch's probe: tells the agent of this host what PyTorch's CUDA allocator holds, once a second, and all it can say when memory runs out.

What it may never do to the program, why, and which test holds that: ../SAFETY.md. Active by import (see ../README.md for ways without code). It waits until the program itself has brought up torch and CUDA and never does so
itself, makes no CUDA call that could create a context, never blocks, logs or raises, and never resets a statistic. One file, no dependency,
Python 3.8 and later, Linux. The format of what it sends is ../PROTOCOL.md.
"""
# Only modules that are built in or loaded before any program: the import costs every interpreter that the probe is switched on for.
import _signal
import _thread
import atexit
import itertools
import os
import sys
import time
from _collections import deque

__version__ = "0.1.0"

_PERIOD_S = 1.0
_RETRY_S = 10.0  # between two looks for the agent ...
_EAGER_S = 30.0  # ... and each period in this time after the start and after a loss
_EXIT_WAIT_S = 0.25  # for the thread to end, unless all that it lacks is a processor ...
_STARVED_WAIT_S = 5.0  # ... because the machine is overloaded, as the end of Python itself then is
_LEADER_S = 0.2  # between two looks whether the program's own threads are gone, where that can be
_LINE_BYTES = 64 * 1024
_HELLO_BYTES = 16 * 1024  # before the agent knows who speaks
_TEXT_BYTES = 8 * 1024
_KEPT = 8
_BLOCKS = 100_000  # 28 ms for a summary of this many in Python
_POOLS = 100
_POOLS_EACH_S = 1.0  # a program that catches out-of-memory errors in a loop is not slowed down
_OWN_DIR = "/tmp"  # where the agent looks; not tempfile's rules, which follow the environment
_ENV = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "CUDA_VISIBLE_DEVICES", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
_SECRETS = ("token", "key", "password", "passwd", "secret", "credential", "auth")
_PAIRS = ("allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes", "requested_bytes")
_COUNTS = ("num_alloc_retries", "num_ooms", "num_oom_rejections")


def _original(module, name):
    """What gevent or eventlet has replaced, where the probe is imported after them: the probe must not run in their loop."""
    try:
        if "gevent.monkey" in sys.modules:
            return sys.modules["gevent.monkey"].get_original(module, name)
        if "eventlet.patcher" in sys.modules:
            return getattr(sys.modules["eventlet.patcher"].original(module), name)
    except Exception:
        pass
    return getattr(sys.modules[module], name)


_start_thread = _original("_thread", "start_new_thread")
_allocate_lock = _original("_thread", "allocate_lock")
_get_ident = _original("_thread", "get_ident")
_allocate_rlock = _original("_thread", "RLock")  # re-entrant: a signal's handler may bring up CUDA in the middle of _begin
_wall, _monotonic, _thread_cpu = _original("time", "time"), _original("time", "monotonic"), _original("time", "thread_time")
_sleep = _original("time", "sleep")
_FAULTS = {getattr(_signal, "SIG" + name) for name in ("SEGV", "BUS", "FPE", "ILL", "TRAP", "SYS", "ABRT")}

_probe = None  # this process's _Probe once CUDA is there
_gate = _allocate_rlock()  # held to start the thread, and to close: whatever starts has started before it is closed
_closed = False  # for good: Python is ending and no thread is started any more
_hooked = False
_main_ident = None  # of the main thread at the last fork
_forked_by_main = True  # this process, if it was forked after the probe was loaded
_finder = None  # while torch is awaited
_fractions = {}  # device -> the memory fraction last set
_settings = []  # the allocator settings last set by call
_watched_from_start = False  # whether every memory fraction that was ever set is in _fractions


def _number(value):
    """A count or size as it came, or None for what cannot be one."""
    if isinstance(value, float) and value == int(value):  # int() raises for NaN and infinities
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _identity():
    """What the agent finds this process by, or None where /proc does not tell it."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        return {"pid": os.getpid(), "pidns": os.stat("/proc/self/ns/pid").st_ino, "mntns": os.stat("/proc/self/ns/mnt").st_ino, "start_ticks": ticks}
    except (OSError, ValueError, IndexError):
        return None


def _arguments(argv):
    """The first arguments, without the values of what looks like a secret."""
    kept, hide = [], False
    for argument in map(str, argv):
        name, equals, _ = argument.partition("=")
        secret = any(word in name.lower() for word in _SECRETS)
        if hide and not argument.startswith("-"):
            hide = False
            continue
        hide = secret and not equals and argument.startswith("-")
        kept.append((name + "=" if secret and equals else argument)[:200])
        if len(kept) == 8:
            break
    return kept


def _message(error):
    """The text of an exception and of what caused it."""
    lines, seen = [], 0
    while error is not None and seen < 5:
        try:
            text = str(error)
        except Exception as failure:
            if _raised_by_handler(failure) is not None:
                raise
            text = "no text: %s in __str__" % type(failure).__name__
        lines.append(text if seen == 0 else "%s: %s" % (type(error).__name__, text))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        seen += 1
    return "\n".join(lines).encode("utf-8", "backslashreplace")[:_TEXT_BYTES].decode("utf-8", "ignore")


def _version(text):
    try:
        major, minor = str(text).split(".")[:2]
        return int(major), int(minor)
    except ValueError:
        return None


def _pools(segments, device, request):
    """What each pool of a device held; `fitting` counts free blocks that are large enough for the request."""
    pools = {}
    for segment in segments:
        if segment.get("device") != device:
            continue
        pool = tuple(segment.get("segment_pool_id", (0, 0)))
        key = (pool, segment.get("stream", 0), segment.get("segment_type"), bool(segment.get("is_expandable", False)))
        row = pools.get(key)
        if row is None:
            row = pools[key] = [0] * 9
        active = pending = free = count = largest = fitting = 0
        for block in segment["blocks"]:
            size, state = block["size"], block["state"]
            if state == "inactive":
                free += size
                count += 1
                if size > largest:
                    largest = size
                if size >= request:
                    fitting += size
            elif state == "active_allocated":
                active += size
            else:  # the code writes active_pending_free, its description says active_awaiting_free
                pending += size
        row[0] += 1
        row[1] += segment["total_size"]
        row[2] += active
        row[3] += pending
        row[4] += free
        row[5] += count
        row[6] = max(row[6], largest)
        row[7] += 1 if active == 0 and pending == 0 else 0
        row[8] += fitting
    names = ("segments", "total_bytes", "active_bytes", "pending_bytes", "free_bytes", "free_blocks", "largest_free_bytes", "free_segments", "fitting_bytes")
    rows = [
        dict(zip(names, row), pool=list(pool), stream=stream, kind=kind, expandable=expandable) for (pool, stream, kind, expandable), row in pools.items()
    ]
    rows.sort(key=lambda row: -row["total_bytes"])
    return rows[:_POOLS]


class _Link:
    """The connection to the agent: through the mounted socket, or to whom connects to the probe's own.

    Only the probe's thread opens. The program's threads send too, so `lock` is held for what changes or uses the connection, and never during a call that
    can wait (a path on a file system that hangs). It is taken by `with` alone: Python runs no signal handler between taking it and seeing to its release.
    """

    def __init__(self, identity):
        import _socket  # not socket, which costs more and which gevent replaces

        self.api = _socket
        self.mounted_path = os.environ.get("WARPWATCH_PROBE_SOCKET") or "/run/warpwatch/probe.sock"
        self.own_path = "%s/.warpwatch-%d-%d.sock" % (_OWN_DIR, identity["pid"], identity["start_ticks"])
        self.conn = self.listener = self.trying = self.bound = None
        self.lock = _allocate_rlock()
        self.mounted = False
        self.number = 0  # of the connection; what was sent is remembered by it
        self.next_try = self.next_listen = 0.0
        self.eager_until = _monotonic() + _EAGER_S

    def open_socket(self):
        sock = self.api.socket(self.api.AF_UNIX, self.api.SOCK_STREAM)  # not inherited by programs that this one starts
        sock.setblocking(False)
        return sock

    def connect(self, path):
        """A connection or None, at once: on Unix sockets connecting never waits when it may not block."""
        self.trying = self.open_socket()
        try:
            self.trying.connect(path)
            return self.trying
        except OSError:
            self.trying.close()
            return None
        finally:
            self.trying = None

    def look(self):
        """Sees that there is a connection, if there can be one."""
        now = _monotonic()
        with self.lock:
            if self.conn is not None and self.is_closed():
                self.lose()
        if self.mounted:
            return
        if now >= self.next_try:
            self.next_try = now + (_PERIOD_S / 2 if now < self.eager_until else _RETRY_S)
            sock = self.connect(self.mounted_path)
            if sock is not None:
                self.take(sock, True)
                self.close_listener()
                return
        if self.listener is None and now >= self.next_listen:
            self.next_listen = now + _RETRY_S
            self.listen()
        while self.listener is not None:
            try:
                fd, _ = self.listener._accept()
            except OSError:
                return
            sock = self.api.socket(fileno=fd)
            sock.setblocking(False)
            self.take(sock, False)

    def take(self, sock, mounted):
        with self.lock:
            self.lose()
            self.conn, self.mounted = sock, mounted
            self.number += 1

    def is_closed(self):
        try:
            return self.conn.recv(1, self.api.MSG_PEEK | self.api.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def is_read(self):
        """Whether the other side has read everything; False where the system does not tell."""
        try:
            import fcntl
            import termios

            left = fcntl.ioctl(self.conn.fileno(), termios.TIOCOUTQ, b"\0\0\0\0")
        except (ImportError, OSError, AttributeError):
            return False
        return int.from_bytes(left, sys.byteorder) == 0 and not self.is_closed()

    def send(self, line):
        """Whether the whole line went out. A torn one ends the connection, so that nothing follows it."""
        if self.conn is None:
            return False
        try:
            if self.conn.send(line, self.api.MSG_DONTWAIT | self.api.MSG_NOSIGNAL) == len(line):
                return True
        except BlockingIOError:
            return False
        except OSError as failure:  # TimeoutError is one, which handlers like to raise
            if _raised_by_handler(failure) is not None:
                raise
        self.lose()
        return False

    def lose(self):
        with self.lock:
            sock, self.conn = self.conn, None
            if sock is None:
                return
            if self.mounted:
                self.mounted, self.next_try, self.eager_until = False, 0.0, _monotonic() + _EAGER_S
            sock.close()

    def listen(self):
        sock = None
        try:
            self.clear_leftovers()
            self.listener = sock = self.open_socket()
            try:
                os.fchmod(sock.fileno(), 0o600)  # the file gets this mode: no moment at which others may connect, and umask is left alone
            except OSError:
                pass
            sock.bind(self.own_path)
            self.bound = self.own_path
            if os.lstat(self.own_path).st_mode & 0o077:
                os.chmod(self.own_path, 0o600)
            sock.listen(2)
        except OSError:  # a read-only or missing /tmp
            self.close_listener()

    def clear_leftovers(self):
        """Removes sockets of killed processes: ours, not of a living process, and refused by whoever has them. /tmp may be shared by namespaces."""
        with os.scandir(_OWN_DIR) as entries:
            names = [entry.name for entry in itertools.islice(entries, 10_000) if entry.name.startswith(".warpwatch-") and entry.name.endswith(".sock")]
        for name in names[:200]:
            path = "%s/%s" % (_OWN_DIR, name)
            try:
                stat = os.lstat(path)
                own = path == self.own_path  # left by this process before it replaced its program (execve)
                is_socket = stat.st_mode & 0o170000 == 0o140000
                if not is_socket or stat.st_uid != os.geteuid() or (not own and _wall() - stat.st_mtime < 60):
                    continue
                _, pid, ticks = name[:-5].rsplit("-", 2)
                if not own:
                    try:
                        with open("/proc/%d/stat" % int(pid), "rb") as file:
                            if file.read().rpartition(b")")[2].split()[19] == ticks.encode():
                                continue
                    except OSError:
                        pass
                trial = self.open_socket()
                try:
                    trial.connect(path)
                except ConnectionRefusedError:
                    os.unlink(path)
                finally:
                    trial.close()
            except (OSError, ValueError, IndexError):
                pass

    def close_listener(self):
        sock, self.listener = self.listener, None
        if sock is not None:
            sock.close()
        self.unlink()

    def unlink(self):
        path, self.bound = self.bound, None
        if path is not None:
            try:
                os.unlink(path)
            except OSError:
                pass

    def close(self):
        self.mounted = False
        self.lose()
        self.close_listener()

    def abandon(self):
        """In a forked child: gives up the copies of the parent's sockets without a word on them, and leaves its file."""
        self.bound = None
        for sock in (self.conn, self.listener, self.trying):
            try:
                os.close(sock.detach())
            except (OSError, AttributeError):
                pass
        self.conn = self.listener = self.trying = None


class _Probe:
    def __init__(self, torch):
        self.torch, self.cuda = torch, torch.cuda
        self.pid = os.getpid()
        self.launched = self.started = self.stopping = self.said_last = False
        self.wake, self.begun, self.done = _allocate_lock(), _allocate_lock(), _allocate_lock()
        for lock in (self.wake, self.begun, self.done):
            lock.acquire()
        self.task = self.end_by = self.link = None
        self.used = {}  # device -> what hello says of it
        self.totals = {}  # device -> its memory
        self.kept = deque()  # of oom and exc: [line, number of the connection that it was sent on, seq then]
        self.numbers = itertools.count(1)
        self.seq = self.drop = self.greeted = self.turn = 0
        self.told_pools_at = -_POOLS_EACH_S
        self.in_summary = self.in_observer = False
        self.interrupted = None  # the number of the signal
        self.reported = None

    def launch(self):
        """Starts the thread; _begin then waits until it runs, and the exit function until it has ended.

        start_new_thread() returns before the new thread has run. Python 3.9 and 3.10 free the state of every other thread when they begin to
        finalise (_PyThreadState_DeleteExcept, called by Py_FinalizeEx): a thread that first runs after that reads freed memory
        (_PyThreadState_Init in thread_run) and ends the process with SIGSEGV. Others (3.8, 3.11) write to it. Once it has run it can be joined.
        """
        self.launched = True
        try:
            _start_thread(self.run, ())
        except RuntimeError as error:
            if not _raised_by_handler(error):  # no thread can be had
                self.launched = False
                self.begun.release()
                self.done.release()
                raise

    def run(self):
        try:
            # The program's signals are its own threads': one that waits in sigwait() for what it has blocked would find it gone, or the process ended.
            # What the processor raises stays, for faulthandler.
            _signal.pthread_sigmask(_signal.SIG_BLOCK, set(_signal.valid_signals()) - _FAULTS)
        except BaseException:
            pass
        try:
            self.task = "/proc/self/task/%d" % _thread.get_native_id()
        finally:
            self.begun.release()
        try:
            self.wait_for_cuda()
            if not self.stopping and self.begin():
                self.loop()
                self.part()
        except BaseException:
            pass
        finally:
            try:
                if self.link is not None:
                    self.link.close()
            except BaseException:
                pass
            self.done.release()

    def wait_for_cuda(self):
        """The call that started this thread came from inside of torch's initialisation, or torch has no such call and is asked."""
        pause = 0.01
        while not self.stopping:
            if not getattr(getattr(self.torch, "__spec__", None), "_initializing", False) and self.cuda.is_initialized():
                return
            self.rest(pause)
            pause = min(pause * 2, _PERIOD_S)

    def load(self):
        """In the thread that brings up CUDA: a thread that imports holds locks, which a child of a fork would wait for without end."""
        import _socket  # noqa: F401
        import fcntl  # noqa: F401
        import inspect
        import json  # torch has loaded it
        import termios  # noqa: F401

        self.encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
        self.signature = inspect.signature

    def begin(self):
        self.identity = _identity()
        if self.identity is None:
            return False
        self.version = _version(getattr(self.torch, "__version__", ""))
        try:
            self.backend = str(self.cuda.get_allocator_backend())[:80]
        except Exception:
            self.backend = "native" if self.version is not None and self.version < (2, 0) else None
        # Others fill allocated, reserved and active only; their zeros elsewhere are no readings.
        self.pairs = _PAIRS[:3] if self.backend == "cudaMallocAsync" else _PAIRS
        self.counts = () if self.backend == "cudaMallocAsync" else _COUNTS
        try:
            self.devices = int(self.cuda.device_count())
        except Exception:
            self.devices = 1
        self.can_leave_out_traces = False
        try:
            self.can_leave_out_traces = "include_traces" in self.signature(self.cuda.memory_snapshot).parameters
        except Exception:
            pass
        self.link = _Link(self.identity)
        self.started = True
        self.attach()
        return True

    def attach(self):
        """The observer only where it is sound: before 2.4 it breaks the error on all devices but one, before 2.0 there is none."""
        attach = getattr(getattr(self.torch, "_C", None), "_cuda_attach_out_of_memory_observer", None)
        if attach is None or self.version is None or self.backend != "native":
            return
        if self.version >= (2, 4) or (self.version >= (2, 0) and self.devices == 1):
            try:
                attach(_on_oom)
            except Exception:
                pass

    def loop(self):
        self.due = _monotonic()
        while not self.stopping:
            try:
                if _monotonic() >= self.due:
                    self.due = max(self.due + _PERIOD_S, _monotonic() + _PERIOD_S / 10)
                    self.tick()
                else:
                    self.flush()
            except Exception:
                self.drop += 1
            if self.interrupted is not None and not self.in_observer:
                number, self.interrupted = self.interrupted, None
                _interrupt(number)
            self.rest(0.001 if self.interrupted is not None else max(0.001, self.due - _monotonic()))

    def rest(self, seconds):
        self.wake.acquire(True, seconds if _forked_by_main else min(seconds, _LEADER_S))
        if not _forked_by_main and _has_leader_ended():
            self.stopping = True

    def part(self):
        """The last words: what is still kept, if need be on a connection made for it, and bye."""
        link = self.link
        with link.lock:
            is_lost = link.conn is None or link.is_closed()
        if is_lost:
            link.next_try, link.next_listen = 0.0, _monotonic() + _RETRY_S
            link.look()
        self.flush()
        if link.conn is not None and self.greeted == link.number:
            link.send(self.line({"type": "bye", "t": _wall()}))

    def tick(self):
        self.link.look()
        if self.link.conn is None:
            return
        began = _monotonic()
        devices = self.read()
        took = _monotonic() - began
        self.seq += 1
        with self.link.lock:
            if self.kept and self.link.conn is not None and self.link.is_read():
                for item in list(self.kept):
                    if item[1] == self.link.number and item[2] + 2 <= self.seq:
                        self.kept.remove(item)
        self.flush()
        sample = {"type": "sample", "seq": self.seq, "t": _wall(), "took_ms": round(took * 1000, 3), "drop": self.drop, "cpu_s": round(_thread_cpu(), 4)}
        sample["devices"] = devices
        line = self.line(sample)
        with self.link.lock:
            if self.greeted != self.link.number or not self.link.send(line):
                self.drop += 1

    def read(self):
        """The statistics of each device in use. A device that is not is looked at each second at first, then in turn."""
        idle = [i for i in range(self.devices) if i not in self.used]
        if self.seq > 30 and idle:
            self.turn += 1
            idle = [idle[self.turn % len(idle)]]
        found = {}
        for i in sorted(list(self.used) + idle):
            stats, in_use = self.stats(i)
            if not in_use and i not in self.used:
                continue
            if i not in self.used:
                self.used[i] = self.describe(i)
                self.greeted = 0
            if stats:
                device = found[str(i)] = {"stats": stats}
                fraction = _fractions.get(i)
                if fraction is not None and fraction >= 1:
                    device["limit_bytes"] = None
                elif fraction is not None and i in self.totals:
                    device["limit_bytes"] = int(fraction * self.totals[i])
        return found

    def stats(self, i):
        """The statistics of a device as they are sent, and whether it has ever reserved memory."""
        try:
            nested = self.cuda.memory_stats_as_nested_dict(i)
        except Exception as failure:
            if _raised_by_handler(failure) is not None:
                raise
            self.drop += 1
            return None, False
        stats, bad = {}, False
        for name in self.pairs:
            try:
                pair = nested[name]["all"]
                current, peak = _number(pair["current"]), _number(pair["peak"])
                if current is None or peak is None:
                    bad = True
                else:
                    stats[name] = [current, peak]
            except KeyError:
                pass
            except Exception as failure:
                if _raised_by_handler(failure) is not None:
                    raise
                bad = True
        for name in self.counts:
            try:
                count = _number(nested[name])
                if count is None:
                    bad = True
                else:
                    stats[name] = count
            except KeyError:
                pass
            except Exception as failure:
                if _raised_by_handler(failure) is not None:
                    raise
                bad = True
        if bad:
            self.drop += 1
        return stats, any(stats.get("reserved_bytes", ()))

    def describe(self, i):
        """Which device it is; asked once it is in use, so that its context is there."""
        device = {"i": i}
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        try:
            properties = self.cuda.get_device_properties(i)
        except Exception:
            properties = None
        total = _number(getattr(properties, "total_memory", None))
        if total:
            device["total_bytes"] = self.totals[i] = total
        # Later changes of the fraction come through _watch: to ask may be a CUDA call, which a running graph capture could not bear.
        try:
            _fractions.setdefault(i, float(self.cuda.get_per_process_memory_fraction(i)))  # torch 2.6 or 2.7 and later
        except Exception:
            if _watched_from_start:
                _fractions.setdefault(i, 1.0)
        listed = (visible or "").split(",")
        listed = listed[i].strip() if i < len(listed) else ""
        if getattr(properties, "uuid", None) is not None:
            uuid = str(properties.uuid)
            is_mig = " MIG " in str(getattr(properties, "name", "")) or listed.startswith("MIG-")
            device["uuid"] = uuid if uuid.startswith(("GPU-", "MIG-")) else ("MIG-" if is_mig else "GPU-") + uuid
        elif listed.startswith(("GPU-", "MIG-")) and 40 <= len(listed) <= 80:  # not one that is cut short
            device["uuid"] = listed
        else:
            device["visible"] = visible and visible[:2000]
        try:
            device["pci_bus_id"] = "%08X:%02X:%02X.0" % (properties.pci_domain_id, properties.pci_bus_id, properties.pci_device_id)
        except Exception:
            pass
        return device

    def expandable(self):
        text = self.settings() or ""
        for part in text.replace(" ", "").split(","):
            name, _, value = part.partition(":")
            if name == "expandable_segments":
                return value.lower() == "true"
        return False if self.version is not None and self.version < (2, 11) else None

    def settings(self):
        if _settings:
            return _settings[-1]
        return os.environ.get("PYTORCH_ALLOC_CONF") or os.environ.get("PYTORCH_CUDA_ALLOC_CONF")

    def hello(self):
        said = {"type": "hello", "v": 1}
        said.update(self.identity)
        try:
            said["exe"] = os.readlink("/proc/self/exe")
        except OSError:
            pass
        said["argv"] = _arguments(getattr(sys, "argv", None) or ())
        said["py"] = sys.version.split()[0]
        said["torch"] = str(getattr(self.torch, "__version__", ""))[:80]
        for name, value in (("backend", self.backend), ("settings", self.settings()), ("expandable", self.expandable())):
            if value is not None:
                said[name] = value[:1000] if isinstance(value, str) else value
        said["devices"] = [self.used[i] for i in sorted(self.used)]
        said["env"] = {name: os.environ[name][:1000] for name in _ENV if name in os.environ}
        line = self.line(said)
        for name in ("argv", "settings", "env"):
            if 0 < len(line) < _HELLO_BYTES:
                break
            said.pop(name, None)
            line = self.line(said)
        return line

    def line(self, said):
        """One line; of a message that is too long the list of pools gives way."""
        text = self.encode(said)
        while len(text) >= _LINE_BYTES and said.get("pools"):
            said["pools"] = said["pools"][: len(said["pools"]) // 2]
            text = self.encode(said)
        return text.encode("ascii") + b"\n" if len(text) < _LINE_BYTES else b""

    def keep(self, said):
        """Takes an oom or exc, from any thread: sent at once if that needs no waiting, else by the probe's thread."""
        said["n"] = next(self.numbers)
        line = self.line(said)
        if not line:
            self.drop += 1
            return
        self.kept.append([line, 0, 0])
        while len(self.kept) > _KEPT:
            if self.kept.popleft()[1] == 0:
                self.drop += 1
        self.flush()
        self.rouse()

    def flush(self):
        """Greets, and sends what was kept and this connection has not had: at once, since the process may end the next moment."""
        link = self.link
        if link is None:
            return
        with link.lock:
            if link.conn is None:
                return
            if self.greeted != link.number:
                if not link.send(self.hello()):
                    return
                self.greeted = link.number
            for item in list(self.kept):
                if item[1] != link.number:
                    if not link.send(item[0]):
                        return
                    item[1], item[2] = link.number, self.seq

    def rouse(self):
        try:
            self.wake.release()
        except RuntimeError:  # it is awake
            pass

    def out_of_memory(self, device, request, limit, free):
        said = {"type": "oom", "t": _wall(), "device": int(device)}
        for name, value in (("request_bytes", request), ("limit_bytes", limit), ("free_bytes", free)):
            number = _number(value)
            if number is not None:
                said[name] = number
        stats, _ = self.stats(device)
        if stats:
            said["stats"] = stats
        try:
            said["skipped"] = self.why_no_pools()
            if said["skipped"] is None:
                said["pools"] = self.summary(device, request)
                del said["skipped"]
        except Exception as failure:
            if _raised_by_handler(failure) is not None:
                raise
            said["skipped"] = "the snapshot failed: %s" % type(failure).__name__
        self.keep(said)

    def why_no_pools(self):
        if self.in_summary:
            return "another summary was being made"
        now = _monotonic()
        if now - self.told_pools_at < _POOLS_EACH_S:
            return "the last summary was less than %g s ago" % _POOLS_EACH_S
        if not self.can_leave_out_traces:
            # A snapshot would bring the recorded history along, which takes seconds to minutes.
            recorded = getattr(self.torch._C, "_cuda_isHistoryEnabled", None)
            if recorded is None:
                return "this torch does not tell whether it records history"
            if recorded():
                return "history is being recorded and this torch cannot leave it out"
        blocks = 0
        for i in list(self.used):
            nested = self.cuda.memory_stats_as_nested_dict(i)
            for name in ("active", "inactive_split"):
                blocks += nested.get(name, {}).get("all", {}).get("current", 0)
        if blocks > _BLOCKS:
            return "%d blocks, more than %d" % (blocks, _BLOCKS)
        self.told_pools_at = now
        return None

    def summary(self, device, request):
        try:
            self.in_summary = True
            snapshot = self.cuda.memory_snapshot
            return _pools(snapshot(include_traces=False) if self.can_leave_out_traces else snapshot(), device, request)
        finally:
            self.in_summary = False

    def note(self, kind, error):
        """An uncaught exception: the only trace of an out-of-memory that NVML turned into another error."""
        if id(error) == self.reported or issubclass(kind, (KeyboardInterrupt, SystemExit, GeneratorExit)):
            return
        self.reported = id(error)  # not the exception itself, which would hold its frames and their tensors
        self.keep({"type": "exc", "t": _wall(), "name": kind.__name__[:200], "text": _message(error)})

    def finish(self):
        """Ends the thread and waits until the kernel has none of it left; called again after an interruption it goes on waiting.

        One that hangs in a call is left alone after _EXIT_WAIT_S, since the program must not hang with it. When its call returns, Python ends it
        where it asks for the interpreter (take_gil). All such calls are Python's own, in C: none of torch's that this thread makes lets go
        of the interpreter, so no frame of C++ is unwound by pthread_exit().
        """
        self.stopping = True
        self.rouse()
        if self.end_by is None:
            self.end_by = _monotonic() + _EXIT_WAIT_S
        while not self.is_gone():
            late = _monotonic() - self.end_by
            if late >= _STARVED_WAIT_S or (late >= 0 and not self.is_starved()):
                if self.link is not None:
                    self.link.unlink()
                return
            if self.done.acquire(True, 0.02):
                self.done.release()
                _sleep(0.0002)  # what is left of it is in C: thread_run clears its state, and the kernel takes it off the list

    def is_gone(self):
        if self.task is None:
            return not self.launched
        try:
            os.stat(self.task)
            return False
        except OSError:
            return True

    def is_starved(self):
        """Whether it could go on if it had a processor: it has never run, or is not asleep."""
        if self.task is None:
            return True
        try:
            with open(self.task + "/stat", "rb") as file:
                return file.read().rpartition(b")")[2].split()[0] == b"R"
        except (OSError, IndexError):
            return False


def _mine():
    """This process's probe once it runs, None in a child that has it only as a copy."""
    probe = _probe
    return probe if probe is not None and probe.started and probe.pid == os.getpid() else None


def _handlers():
    """The code of the program's own signal handlers, and the number of the signal of each."""
    codes = {}
    for number in _signal.valid_signals():
        try:
            handler = _signal.getsignal(number)
        except ValueError:
            continue
        for found in (handler, getattr(handler, "__func__", None), getattr(type(handler), "__call__", None)):
            if hasattr(found, "__code__"):
                codes[found.__code__] = number
    return codes


def _raised_by_handler(error):
    """The number of the signal whose handler raised this, or None: Python runs handlers in the main thread between any two instructions, the probe's too.

    Such an exception (an interrupt, a deadline by SIGALRM) is the program's and must reach it.
    """
    if isinstance(error, KeyboardInterrupt):
        return _signal.SIGINT
    codes, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_globals is not globals():
            codes = _handlers() if codes is None else codes
            if trace.tb_frame.f_code in codes:
                return codes[trace.tb_frame.f_code]
        trace = trace.tb_next
    return None


def _interrupt(number):
    """Has the main thread run the handler of a signal once more: what it raised in the observer would have taken the place of the OutOfMemoryError."""
    if number == _signal.SIGINT:
        _thread.interrupt_main()
    elif sys.version_info >= (3, 10):
        _thread.interrupt_main(number)  # does nothing where the program has taken its handler away


def _on_oom(device, request, limit, free):
    probe = None
    try:
        probe = _mine()
        if probe is not None:
            probe.in_observer = True
            probe.out_of_memory(device, request, limit, free)
    except BaseException as error:  # any would take the place of the OutOfMemoryError
        number = _raised_by_handler(error)
        if number is not None:  # raised again a moment later
            probe = _mine()  # a handler may have raised before it was known
            if probe is None:
                raise  # nobody can run the handler again
            probe.interrupted = number
            probe.rouse()
    finally:
        if probe is not None:
            probe.in_observer = False


def _hook_exceptions():
    import threading

    previous, previous_thread = sys.excepthook, threading.excepthook

    def excepthook(kind, error, trace):
        try:
            _note(error)
        finally:
            previous(kind, error, trace)

    def thread_excepthook(args):
        try:
            _note(args.exc_value)
        finally:
            previous_thread(args)

    sys.excepthook, threading.excepthook = excepthook, thread_excepthook


def _note(error):
    try:
        probe = _mine()
        if probe is not None and error is not None:
            probe.note(type(error), error)
    except Exception as failure:
        if _raised_by_handler(failure) is not None:
            raise


def _at_exit():
    """Python is about to end: from here on no thread is started, and the one there is has ended before this returns.

    Py_FinalizeEx calls exit functions after threading._shutdown() has waited for the program's own threads, which are watched until then, and
    before the interpreter is marked as finalising: whatever runs later than this function finds no thread of the probe's.
    """
    raised = None
    for _ in range(100):
        try:
            _close()
            break
        except BaseException as error:  # a signal's handler
            raised = error
    if raised is not None:
        raise raised


def _close():
    global _closed
    with _gate:
        _closed = True
    probe = _probe
    if probe is None or probe.pid != os.getpid():
        return
    if not probe.said_last:
        probe.said_last = True
        # Where the program's own excepthook does not call ours, Python still leaves the exception here; in a shell it may be an old one.
        if not hasattr(sys, "ps1"):
            _note(getattr(sys, "last_value", None))
    probe.finish()


def _is_ending():
    """Whether Python may be calling its exit functions already, so that one of ours would not be called.

    The main thread has then ended for threading, where the program had loaded that. Without it there is one sign: what Python called first is
    neither a module nor the import of one, but a function.
    """
    if sys.is_finalizing():
        return True
    threading = sys.modules.get("threading")
    if threading is not None and not threading.main_thread().is_alive():
        return True
    frame = sys._getframe() if threading is None else sys._current_frames().get(threading.main_thread().ident)
    if frame is None:
        return False
    while frame.f_back is not None:
        frame = frame.f_back
    return not (frame.f_code.co_name in ("<module>", "_run_module_as_main") or frame.f_code.co_filename.startswith("<frozen importlib"))


def _is_main_interpreter():
    """Another may have no thread when it ends (Py_EndInterpreter: "not the last thread", a fatal error), and has the main thread of its own only."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # since 3.13, before it
        try:
            interpreters = __import__(name)
            current, main = interpreters.get_current(), interpreters.get_main()
            return current == main
        except (ImportError, AttributeError):
            pass
    return True


def _watch(owner, name, note):
    """Sees the arguments of a function of torch's each time it is called."""
    original = getattr(owner, name, None)
    if original is None:
        return

    def watched(*args, **kwargs):
        result = original(*args, **kwargs)
        try:
            note(*args)
        except Exception as failure:
            if _raised_by_handler(failure) is not None:
                raise
        return result

    watched.__name__, watched.__doc__ = name, getattr(original, "__doc__", None)
    setattr(owner, name, watched)


def _on_torch(torch):
    """Torch has been imported. Its queue of calls for when CUDA is up needs no thread until then; a child of a fork inherits it."""
    global _watched_from_start
    binding = getattr(torch, "_C", None)
    _watched_from_start = not torch.cuda.is_initialized()
    _watch(binding, "_cuda_setMemoryFraction", lambda fraction, device: _fractions.__setitem__(int(device), float(fraction)))
    for name in ("_cuda_cudaCachingAllocator_set_allocator_settings", "_accelerator_setAllocatorSettings"):
        _watch(binding, name, lambda text: _settings.append(str(text)))
    if _watched_from_start and hasattr(torch.cuda, "_lazy_call"):
        torch.cuda._lazy_call(lambda: _begin(torch))
    else:
        _begin(torch)


def _begin(torch):
    """Starts the probe's thread, if Python is not about to end."""
    global _probe
    probe = None
    try:
        with _gate:
            if _probe is None and not _closed and _is_main_interpreter():
                _probe = probe = _Probe(torch)
                probe.load()
                _hook()
                probe.launch()
    except Exception as failure:
        if probe is not None and not probe.launched:
            _probe = None
        if _raised_by_handler(failure) is not None:
            raise
    if probe is not None and probe.launched:
        probe.begun.acquire(True, _STARVED_WAIT_S)


def _hook():
    """In the thread that brings up CUDA and once: from the probe's own thread it could undo what the program sets at the same moment."""
    global _hooked
    if _hooked:
        return
    _hooked = True
    atexit.register(_at_exit)  # so late that it runs before what torch and most of the program registered; the one of _install stays behind it
    _hook_exceptions()
    try:  # once more when the main thread has ended, for programs that clear atexit's list; Python 3.9 and later
        sys.modules["threading"]._register_atexit(atexit.register, _at_exit)
    except (AttributeError, RuntimeError):
        pass


def _before_fork():
    global _main_ident
    main_thread = getattr(sys.modules.get("threading"), "main_thread", None)
    _main_ident = None if main_thread is None else main_thread().ident


def _has_leader_ended():
    """In a child that another thread than the main one has forked: that thread just ends, Python does not, and the process stays for the probe's."""
    try:
        with open("/proc/self/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"Z"
    except (OSError, IndexError):
        return True


def _in_child():
    """After a fork: nothing is shared with the parent. CUDA that was up there cannot be used here, so there is nothing to watch."""
    global _probe, _gate, _forked_by_main
    _forked_by_main = _forked_by_main and _main_ident in (None, _get_ident())
    _gate = _allocate_rlock()  # another thread may have held it
    probe, _probe = _probe, None
    try:
        if probe is None:
            return
        if probe.link is not None:
            probe.link.abandon()
        elif not probe.started and not getattr(probe.cuda, "_is_in_bad_fork", lambda: False)() and not hasattr(probe.cuda, "_lazy_call"):
            _begin(probe.torch)
    except Exception:
        pass


class _Finder:
    """Sees the import of torch and lets the other finders find it."""

    def __init__(self):
        self.asking = set()

    def find_spec(self, name, path=None, target=None):
        if name != "torch" or _get_ident() in self.asking:
            return None
        self.asking.add(_get_ident())
        try:
            finders = list(sys.meta_path)
            for finder in finders[finders.index(self) + 1 :] if self in finders else ():
                spec = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
                if spec is not None:
                    self.follow(spec.loader)
                    return spec
            return None
        finally:
            self.asking.discard(_get_ident())

    def follow(self, loader):
        try:
            run = loader.exec_module

            def exec_module(module):
                try:
                    del loader.exec_module
                except AttributeError:
                    pass
                run(module)
                self.seen(module)

            # Under this name Python leaves it out of the traceback of an import that fails (remove_importlib_frames), as it does without the probe.
            disguise = dict(co_filename="<frozen importlib._bootstrap>", co_name="_call_with_frames_removed")
            exec_module.__code__ = exec_module.__code__.replace(**disguise)
            loader.exec_module = exec_module  # of this one object; importing it takes this attribute away again
        except Exception as failure:
            if _raised_by_handler(failure) is not None:
                raise

    def seen(self, module):
        try:
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                _on_torch(module)
        except Exception as failure:
            if _raised_by_handler(failure) is not None:
                raise


def _install():
    global _finder
    if not sys.platform.startswith("linux") or os.environ.get("WARPWATCH_PROBE") == "0":
        return
    if not globals().get("_exit_function_is_set") and _is_ending():  # the folder sitecustomize has set one when Python started
        return
    # Before anything else, and last therefore: even where the one of _hook comes too late, because CUDA is brought up by an exit function.
    atexit.register(_at_exit)
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
    torch = sys.modules.get("torch")
    if torch is None:
        _finder = _Finder()
        sys.meta_path.insert(0, _finder)
    elif getattr(getattr(torch, "__spec__", None), "_initializing", False):
        _begin(torch)
    else:
        _on_torch(torch)


def _tell():
    """`python warpwatch_probe.py`: says whether the probe could reach an agent from here."""
    link = _Link(_identity() or {"pid": os.getpid(), "start_ticks": 0})
    sock = link.connect(link.mounted_path)
    print("python %s, probe %s" % (sys.version.split()[0], __version__))
    print("%s: %s" % (link.mounted_path, "an agent answers" if sock is not None else "no agent answers (is its directory mounted?)"))
    link.listen()
    print("%s: %s" % (link.own_path, "can be used instead, for an agent that runs as root" if link.bound else "cannot be made, so the mount is needed"))
    link.close()
    if sock is not None:
        sock.close()


if __name__ == "__main__":
    _tell()
else:
    try:
        _install()
    except Exception:
        pass
