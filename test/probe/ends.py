"""Ends programs in many ways, with the probe and without: the exit status, stdout and stderr must be the same. By hand: `python3 ends.py 500 --busy 3`.

Runs under the Python that is judged. Progress goes to stderr, one JSON object to stdout:
{"python": "3.9.18", "torch": "standin", "ends": 500, "ways": 30, "different": [{"way", "flags", "pause_us", "with", "without"}], "late": [...], "seconds": 21.5}

An end that takes longer than LATE_S is looked at (standing.py) and goes on. `late` tells of each whether it was "starved", "slow" or "hung": a hang is
killed after HUNG_S. What hung is different; what was starved all the time could not be compared, and is told apart.
"""
import argparse
import itertools
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

import standing
from harness import BYTECODE

HERE = os.path.dirname(os.path.abspath(__file__))
PROBE = os.path.join(HERE, "..", "..", "probe", "python")
LATE_S = 120
HUNG_S = 600
AGAIN = 20  # ends without the probe that are looked at before an end with it counts as different: Python's own races have several outcomes

# The same text with and without the probe. The probe's period is short, so that it is at work when the program ends.
PRELUDE = """
import os, sys, threading, time, warnings
warnings.simplefilter("ignore")  # of forks while other threads run; CUDA has threads of its own, the stand-in has none
import torch
w = sys.modules.get("warpwatch_probe")
if w is not None:
    w._PERIOD_S, w._RETRY_S, w._OWN_DIR = 0.005, 0.1, os.environ["TEST_OWN_DIR"]
if "+cpu" in torch.__version__:  # real PyTorch without a GPU: all but CUDA itself is real
    up = []
    count = {"current": 1, "peak": 1}
    stats = {name: {"all": count} for name in ("allocated_bytes", "reserved_bytes", "active_bytes")}
    torch.cuda.is_initialized = lambda: bool(up)
    torch.cuda.memory_stats_as_nested_dict = lambda device: stats
    torch.cuda.device_count = lambda: 1
    def init():
        for call, _ in torch.cuda._queued_calls:
            if call.__module__ == "warpwatch_probe":
                call()
        up.append(True)
else:
    init = torch.cuda.init
def pause():
    time.sleep(int(sys.argv[1]) / 1e6)
"""

# The three of the first report, as often as all others together unless --first says otherwise.
FIRST = {
    "main thread": "init(); pause()",
    "a thread that outlives it": "threading.Thread(target=lambda: (pause(), init())).start()",
    "SystemExit(0)": "init(); pause()\nraise SystemExit(0)",
}
WAYS = {
    "sys.exit(3)": "init(); pause()\nsys.exit(3)",
    "sys.exit(text)": "init(); pause()\nsys.exit('no such file')",
    "uncaught": "def run():\n    init(); pause()\n    raise ValueError('wrong')\nrun()",
    "uncaught, own excepthook": "sys.excepthook = lambda kind, error, trace: print('own', kind.__name__, error)\ninit(); pause()\nraise ValueError('wrong')",
    "uncaught in a thread": """
def run():
    init(); pause()
    raise ValueError('wrong')
thread = threading.Thread(target=run, name='worker')
thread.start()
""",
    "os._exit": "init(); pause()\nprint('out', flush=True)\nos._exit(4)",
    "SIGTERM": "import signal\ninit(); pause()\nos.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(60)",
    "SIGTERM, handled": "import signal\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(143))\ninit(); pause()\nos.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(60)",
    "SIGINT": "import signal\ninit(); pause()\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)",
    "sigwait": """
import signal
init()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
threading.Timer(int(sys.argv[1]) / 1e6, os.kill, (os.getpid(), signal.SIGTERM)).start()
print(int(signal.sigwait({signal.SIGTERM})))
""",
    "signals all the time": """
import signal
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
init(); pause()
""",
    "CUDA from an exit function": "import atexit\natexit.register(lambda: (init(), pause()))",
    "CUDA from the last exit function": "import atexit\ninit_later = lambda: init()\natexit.register(print, 'first')\natexit.register(init_later)\natexit.register(print, 'last')",
    "an exit function that fails": "import atexit\natexit.register(lambda: 1 / 0)\ninit(); pause()",
    "no exit functions": "import atexit\ninit(); pause()\natexit._clear()",
    "CUDA from a destructor": "class Late:\n    def __del__(self, init=init):\n        init()\nlate = Late()\npause()",
    "CUDA in a daemon thread": "threading.Thread(target=lambda: (pause(), init()), daemon=True).start()",
    "daemon threads": "init()\nfor _ in range(3):\n    threading.Thread(target=lambda: [time.sleep(0.001) for _ in range(10**6)], daemon=True).start()\npause()",
    "a pool that nobody shuts down": "import concurrent.futures\nconcurrent.futures.ThreadPoolExecutor(2).submit(lambda: (init(), pause()))",
    "asyncio": "import asyncio\nasync def run():\n    asyncio.get_running_loop().slow_callback_duration = 3600\n    init()\n    await asyncio.sleep(int(sys.argv[1]) / 1e6)\nasyncio.run(run())",
    "a child by fork that ends": "init()\npid = os.fork()\nif pid == 0:\n    pause()\n    sys.exit(5)\nprint(os.waitpid(pid, 0)[1] >> 8)",
    "a child by fork that uses CUDA": "pid = os.fork()\ninit()\npause()\nif pid == 0:\n    sys.exit(6)\nprint(os.waitpid(pid, 0)[1] >> 8)",
    "a child forked by a thread": """
def run():
    pid = os.fork()
    if pid == 0:
        init()
        pause()
        return
    print(os.waitpid(pid, 0)[1])
thread = threading.Thread(target=run)
thread.start()
thread.join()
""",
    "workers by fork": """
import multiprocessing
context = multiprocessing.get_context('fork')
init()
workers = [context.Process(target=pause) for _ in range(2)]
for worker in workers: worker.start()
for worker in workers: worker.join()
print([worker.exitcode for worker in workers])
""",
    "another program by exec": "init(); pause()\nos.execv(sys.executable, [sys.executable, '-c', 'print(1)'])",
    "a program started": "import subprocess\ninit(); pause()\nprint(subprocess.call([sys.executable, '-S', '-c', 'raise SystemExit(7)']))",
    "torch that cannot be imported": "for name in [name for name in sys.modules if name.split('.')[0] == 'torch']: del sys.modules[name]\nos.environ['STANDIN_VERSION'] = 'x.y'\nimport torch",
}
STANDIN_ONLY = {
    "out of memory": "init()\ntorch._state.devices[0].allocate(1000)\npause()\ntorch._state.devices[0].fail(1000)",
    "out of memory, caught": """
init()
pause()
try:
    torch._state.devices[0].fail(1000)
except torch.cuda.OutOfMemoryError as error:
    print(error)
""",
    "a sub-interpreter": """
try:
    import _interpreters as interpreters
    run = interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    run = interpreters.run_string
init()
other = interpreters.create()
print(run(other, 'import torch; torch.cuda.init()'))
pause()
interpreters.destroy(other)
""",
}
SETTINGS = [((), {}), ((), {}), (("-X", "dev"), {}), (("-X", "faulthandler"), {}), ((), {"PYTHONMALLOC": "debug"}), (("-O",), {})]


class Runner:
    """Starts programs; `outcomes` holds what each ended with without the probe, `others` what it ended with when it was tried again."""

    def __init__(self, folder, real_torch=False, late_s=LATE_S, hung_s=HUNG_S):
        self.folder, self.real_torch, self.outcomes, self.lock = folder, real_torch, {}, threading.Lock()
        self.late_s, self.hung_s, self.late = late_s, hung_s, []
        self.numbers, self.others = itertools.count(1), {}
        self.own = os.path.join(folder, "own")
        os.mkdir(self.own)
        self.path = os.path.join(folder, "probe.sock")
        agent = socket.socket(socket.AF_UNIX)
        agent.bind(self.path)
        agent.listen(64)
        threading.Thread(target=self.accept, args=(agent,), daemon=True).start()

    def accept(self, agent):
        """An agent that takes each connection, and drops it when the next comes."""
        last = None
        while True:
            conn, _ = agent.accept()
            if last is not None:
                last.close()
            last = conn

    def env(self, probe, agent, more):
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "WARPWATCH", "STANDIN", "CUDA", "PYTORCH"))}
        folders = ([os.path.join(PROBE, "sitecustomize")] if probe else []) + ([] if self.real_torch else [os.path.join(HERE, "standin")])
        env.update(BYTECODE, PYTHONPATH=os.pathsep.join(folders), TEST_OWN_DIR=self.own, **more)
        env["WARPWATCH_PROBE_SOCKET"] = self.path if agent else os.path.join(self.folder, "nothing")
        return env

    def end(self, way, code, setting, pause_us, probe, agent=False):
        """[exit status, stdout, stderr], or None where it had no processor for most of the time until the limit."""
        flags, more = setting
        command = [sys.executable, *flags, "-c", PRELUDE + textwrap.dedent(code), str(pause_us)]
        pipe = subprocess.PIPE
        began, late, mark = time.monotonic(), None, "%d.%d" % (os.getpid(), next(self.numbers))
        with subprocess.Popen(command, env=self.env(probe, agent, dict(more, TEST_END=mark)), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe) as process:
            try:
                out, err = process.communicate(timeout=self.late_s)
            except subprocess.TimeoutExpired:
                first = standing.threads(mark)
                spent = standing.starvation({}, first, time.monotonic() - began)
                late = dict(spent, verdict="starved" if standing.is_starved(spent) else "slow", threads=first, stacks=standing.stacks(mark))
                again, before = time.monotonic(), standing.threads(mark)  # a debugger has held it meanwhile
                try:
                    out, err = process.communicate(timeout=self.hung_s - self.late_s)
                except subprocess.TimeoutExpired:
                    last = standing.threads(mark)
                    spent = standing.starvation(before, last, time.monotonic() - again)
                    late.update(spent, verdict="starved" if standing.is_starved(spent) else "hung", threads=last)
                    standing.kill(mark)
                    process.communicate()
                    out = err = None
        if late is not None:
            late.update(way=way, probe=probe, ended=out is not None, seconds=round(time.monotonic() - began, 1))
            with self.lock:
                self.late.append(late)
            print("late: %s" % json.dumps(late), file=sys.stderr, flush=True)
        if out is None:
            return None if late["verdict"] == "starved" else ["still running after %d s" % self.hung_s, "", ""]
        said = [re.sub("0x[0-9a-f]+", "0x…", text.decode("utf-8", "replace")) for text in (out, err)]  # addresses differ anyhow
        return [process.returncode, *said]

    def without(self, way, code, setting, pause_us):
        key = (way, setting[0], tuple(setting[1]))
        with self.lock:
            known = self.outcomes.get(key)
        if known is None:
            known = self.end(way, code, setting, pause_us, False)
            if known is not None:
                with self.lock:
                    self.outcomes[key] = known
        return known

    def ends_so_without(self, seen, way, code, setting, pause_us):
        """Whether the program ends like this without the probe too, as far as a few tries show."""
        with self.lock:
            others = self.others.setdefault((way, setting[0], tuple(setting[1])), [])
        for _ in range(AGAIN):
            if seen in others:
                return True
            others.append(self.end(way, code, setting, pause_us, False))
        return seen in others

    def compare(self, way, code, setting, pause_us, agent):
        """What was different, or None."""
        without = self.without(way, code, setting, pause_us)
        seen = self.end(way, code, setting, pause_us, True, agent)
        if seen is None or without is None or seen == without or self.ends_so_without(seen, way, code, setting, pause_us):
            return None
        return {"way": way, "flags": [*setting[0], *setting[1]], "pause_us": pause_us, "with": seen, "without": without}


def plan(ends, real_torch, seed, every=2):
    """(way, code, setting, pause, agent) of each end: every way comes in turn, one in `every` ends is of the first report."""
    chance = random.Random(seed)
    others = dict(WAYS) if real_torch else dict(WAYS, **STANDIN_ONLY)
    if real_torch:
        del others["torch that cannot be imported"]  # the real one can not be imported twice
    first, rest = itertools.cycle(FIRST.items()), itertools.cycle(others.items())
    for i in range(ends):
        way, code = next(first if i % every == every - 1 else rest)
        pause_us = chance.choice([0, 0, chance.randrange(1_000), chance.randrange(20_000)])
        settings = SETTINGS
        if sys.version_info < (3, 9) and "fork" in way:  # Python 3.8 frees a lock with the wrong allocator after a fork, and dies of it where that is checked
            settings = [(flags, env) for flags, env in SETTINGS if flags != ("-X", "dev") and not env]
        yield way, code, settings[chance.randrange(len(settings))], pause_us, chance.random() < 0.5


BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(10**6): pass\n"


def main():
    parser = argparse.ArgumentParser(description="ends programs with and without the probe and compares")
    parser.add_argument("ends", type=int)
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--busy", type=int, default=0, help="busy loops beside it")
    parser.add_argument("--first", type=int, default=2, help="one in so many ends is of the first report")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real-torch", action="store_true", help="this Python's own PyTorch (for the CPU) in place of the stand-in")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="wwe-", dir="/tmp")
    busy = [subprocess.Popen([sys.executable, "-S", "-c", BUSY]) for _ in range(args.busy)]
    began, different, done = time.monotonic(), [], itertools.count(1)
    version = ".".join(map(str, sys.version_info[:3]))
    try:
        runner, ends, lock = Runner(folder, args.real_torch), plan(args.ends, args.real_torch, args.seed, args.first), threading.Lock()
        failures = []

        def work():
            try:
                while True:
                    with lock:
                        each = next(ends, None)
                    if each is None:
                        return
                    found = runner.compare(*each)
                    if found is not None:
                        different.append(found)
                        print("python %s: %s" % (version, json.dumps(found)), file=sys.stderr, flush=True)
                    count = next(done)
                    if count % 500 == 0:
                        print("python %s: %d of %d ends, %d different" % (version, count, args.ends, len(different)), file=sys.stderr, flush=True)
            except BaseException as error:
                failures.append(error)

        workers = [threading.Thread(target=work) for _ in range(args.parallel)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if failures:
            raise failures[0]
    finally:
        for process in busy:
            process.kill()
            process.wait()
        shutil.rmtree(folder, True)
    said = {"python": version, "torch": "real" if args.real_torch else "standin", "ends": args.ends, "ways": len(FIRST) + len(WAYS) + len(STANDIN_ONLY) * (not args.real_torch)}
    late = [{name: each[name] for name in ("way", "probe", "verdict", "ended", "seconds", "got_s", "waited_s", "disk_s")} for each in runner.late]
    print(json.dumps(dict(said, different=different, late=late, seconds=round(time.monotonic() - began, 1))))


if __name__ == "__main__":
    main()
