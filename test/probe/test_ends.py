"""What ../../probe/SAFETY.md promises: no thread of the probe's is left or started when Python finalises, and nothing of the program's is changed."""
import os
import shutil
import subprocess
import sys
import unittest

from ends import FIRST, PRELUDE as ENDS_PRELUDE
from harness import HERE, PROBE, ProbeTest

COMPILER = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)

USE = """
import torch
torch.cuda.init()
torch._state.devices[0].allocate(1000)
until(lambda: w._probe and w._probe.started, "the probe")
"""
# Says from inside the finalisation how many threads the kernel has of this process; the one is the main thread.
LAST = """
class Last:
    def __del__(self, listdir=os.listdir, is_finalizing=sys.is_finalizing, write=os.write):
        write(1, b"finalizing %d threads %d\\n" % (is_finalizing(), len(listdir("/proc/self/task"))))
last = Last()
"""
ALONE = "finalizing 1 threads 1\n"


class Threads(ProbeTest):
    @unittest.skipIf(COMPILER is None, "no C compiler (cc, gcc or clang)")
    def test_a_thread_that_first_runs_late(self):
        library = os.path.join(self.folder, "late.so")
        subprocess.check_call([COMPILER, "-shared", "-fPIC", "-O1", "-o", library, os.path.join(HERE, "late-threads.c"), "-ldl"])
        folders = os.pathsep.join([os.path.join(PROBE, "sitecustomize"), os.path.join(HERE, "standin")])
        late = dict(PYTHONPATH=folders, LD_PRELOAD=library, LATE_US="50000", LATE_EXIT_US="150000")
        for way, code in FIRST.items():
            with self.subTest(way=way):
                self.assertEqual(self.run_program(code, "0", prelude=ENDS_PRELUDE, **late), (0, "", ""))

    def test_none_is_left_when_python_finalises(self):
        self.agent()
        ends = {
            "in use": USE,
            "just started": "import torch\ntorch.cuda.init()\n",
            "by exit functions": "import atexit, torch\natexit.register(torch.cuda.init)\n",
            "the list of exit functions was cleared": "import atexit\n" + USE + ("atexit._clear()\n" if sys.version_info >= (3, 9) else ""),
            "at once": "import torch\ntorch.cuda.init()\nraise SystemExit(0)",
        }
        for way, code in ends.items():
            with self.subTest(way=way):
                self.assertEqual(self.run_program(LAST + code), (0, ALONE, ""))

    def test_none_is_started_once_python_finalises(self):
        code = "import torch\nclass Late:\n    def __del__(self, init=torch.cuda.init, w=w):\n        init()\n        assert w._probe is None\nlate = Late()\n"
        self.assertEqual(self.run_program(LAST + code), (0, ALONE, ""))

    def test_torch_that_is_first_imported_by_an_exit_function(self):
        # Nothing has loaded threading, by which Python would tell that the main thread has ended.
        if subprocess.check_output([sys.executable, "-c", "import sys; print('threading' in sys.modules)"]) == b"True\n":
            self.skipTest("a .pth file of this Python loads threading before any program")
        early = "import atexit, os, sys\nassert 'threading' not in sys.modules\ndef late():\n    %s\n    w = sys.modules['warpwatch_probe']\n    print(w._probe is not None, flush=True)\natexit.register(late)\n"
        folders = os.pathsep.join([os.path.join(PROBE, "sitecustomize"), self.env()["PYTHONPATH"]])
        use = "import torch; torch.cuda.init()"
        by_folder = self.run_program(early % use + LAST, prelude="", PYTHONPATH=folders)
        self.assertEqual((by_folder[0], by_folder[2]), (0, ""))  # its own exit function was there before all others
        if sys.version_info[:2] == (3, 12):  # lets nobody start a thread from an exit function
            self.assertIn(by_folder[1], ("True\n" + ALONE, "False\n" + ALONE))
        else:
            self.assertEqual(by_folder[1], "True\n" + ALONE)
        by_import = self.run_program(early % ("import warpwatch_probe; " + use) + LAST, prelude="")
        self.assertEqual(by_import, (0, "False\n" + ALONE, ""))  # none of it would be called any more

    def test_the_import_in_a_function_of_a_module_is_no_end(self):
        with open(os.path.join(self.folder, "program.py"), "w") as file:
            file.write("def main():\n    import torch, warpwatch_probe as w\n    torch.cuda.init()\n    print(w._probe is not None)\nmain()\n")
        path = os.pathsep.join([self.folder, self.env()["PYTHONPATH"]])
        self.assertEqual(subprocess.check_output([sys.executable, "-m", "program"], env=self.env(PYTHONPATH=path)), b"True\n")

    def test_a_call_that_hangs_does_not_hold_the_program(self):
        self.agent()
        code = USE + "w._EXIT_WAIT_S = 0.25\nhangs = []\ntorch.cuda.memory_stats_as_nested_dict = lambda i: (hangs.append(i), time.sleep(3600))\nuntil(lambda: hangs)\n"
        self.assertEqual(self.run_program(code), (0, "", ""))

    def test_one_that_lacks_a_processor_is_told_from_one_that_hangs(self):
        code = USE + "w._PERIOD_S = 3600\nuntil(lambda: w._probe.due > time.monotonic() + 600 and not w._probe.is_starved())\nprobe = w._Probe(torch)\n"
        code += "probe.task = '/proc/self/task/%d' % os.getpid()\nprint(probe.is_starved(), probe.is_gone())\nprobe.task = '/proc/self/task/0'\nprint(probe.is_starved(), probe.is_gone())\n"
        self.assertEqual(self.run_program(code), (0, "True False\nFalse True\n", ""))

    def test_it_imports_nothing(self):
        code = """
import builtins
real, names = builtins.__import__, []
def watched(name, *a, **k):
    probe = w._probe
    if name not in sys.modules and probe and probe.task and probe.task.endswith("/%d" % __import__("_thread").get_native_id()):
        names.append(name)
    return real(name, *a, **k)
builtins.__import__ = watched
"""
        self.agent()
        self.assertEqual(self.run_program(code + USE + "builtins.__import__ = real\nprint(names)\n"), (0, "[]\n", ""))

    def test_it_takes_no_signal(self):
        code = USE + "print([line.split()[1] for line in open(w._probe.task + '/status') if line.startswith('SigBlk')])\n"
        out = self.run_program(code)[1]
        blocked = int(out.strip("[']\n"), 16)
        for number in (1, 2, 10, 12, 14, 15, 17):
            self.assertTrue(blocked >> (number - 1) & 1, "signal %d" % number)
        for number in (6, 7, 8, 11):  # faulthandler's
            self.assertFalse(blocked >> (number - 1) & 1, "signal %d" % number)

    def test_a_child_that_a_thread_has_forked_ends_with_that_thread(self):
        code = """
        import torch, threading
        def work():
            pid = os.fork()
            if pid == 0:
                torch.cuda.init()
                until(lambda: w._probe.started, "the child's probe")
                return
            print(os.waitpid(pid, 0)[1])
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
        self.assertEqual(self.run_program(code, flags=("-W", "ignore")), (0, "0\n", ""))

    def test_a_sub_interpreter_has_none(self):
        code = """
        try:
            import _interpreters as interpreters
            run = interpreters.exec
        except ImportError:
            interpreters = __import__("_xxsubinterpreters")
            run = interpreters.run_string
        other = interpreters.create()
        print(run(other, "import torch, warpwatch_probe as w; torch.cuda.init(); assert w._probe is None"), threads(), flush=True)
        interpreters.destroy(other)
        """
        self.assertEqual(self.run_program(code), (0, "None 1\n", ""))


class Signals(ProbeTest):
    COUNT = """
import random, signal
class Alarm(%s): pass
raised = caught = 0
def ring(*_):
    global raised
    raised += 1
    raise Alarm
signal.signal(signal.SIGALRM, ring)
class Slow(ValueError):
    def __str__(self):
        return str(sum(range(2000)))
def alarm():
    signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 6e-4))
"""

    def test_what_a_handler_raises_in_the_probes_code_reaches_the_program(self):
        self.agent()
        code = """
def wait_for_it(i):
    alarm()
    while raised == i:
        w._note(Slow())
for i in range(300):
    try:
        wait_for_it(i)
    except Alarm:
        caught += 1
signal.signal(signal.SIGALRM, signal.SIG_IGN)
print(raised, caught)
"""
        for kind in ("Exception", "BaseException", "TimeoutError"):
            with self.subTest(kind=kind):
                self.assertEqual(self.run_program(self.COUNT % kind + USE + code), (0, "300 300\n", ""))

    @unittest.skipIf(sys.version_info < (3, 10), "before Python 3.10 a thread cannot have another signal than SIGINT handled again")
    def test_what_a_handler_raises_in_the_observer_comes_a_moment_later(self):
        self.agent()
        code = """
real = w._probe.stats
def stats(i):
    w._probe.stats = real
    os.kill(os.getpid(), signal.SIGALRM)
    return real(i)
w._probe.stats = stats
try:
    try:
        torch._state.devices[0].fail(1000)
    except torch.cuda.OutOfMemoryError:
        print("out of memory", flush=True)
    until(lambda: False)
except Alarm:
    print("alarm")
"""
        use = USE + "w._PERIOD_S = 3600\nuntil(lambda: w._probe.due > time.monotonic() + 600)\n"
        self.assertEqual(self.run_program(self.COUNT % "Exception" + use + code), (0, "out of memory\nalarm\n", ""))

    @unittest.skipIf(sys.version_info < (3, 10), "before Python 3.10 a thread cannot have another signal than SIGINT handled again")
    def test_what_a_handler_raises_before_the_observer_knows_its_probe_comes_too(self):
        self.agent()
        code = """
real = w._mine
def mine():
    w._mine = real
    os.kill(os.getpid(), signal.SIGALRM)
    return real()
w._mine = mine
try:
    try:
        torch._state.devices[0].fail(1000)
    except torch.cuda.OutOfMemoryError:
        print("out of memory", flush=True)
    until(lambda: False)
except Alarm:
    print("alarm")
"""
        self.assertEqual(self.run_program(self.COUNT % "Exception" + USE + code), (0, "out of memory\nalarm\n", ""))

    def test_an_interrupt_at_the_end_neither_is_lost_nor_leaves_the_thread(self):
        code = "real = w._Probe.is_gone\ndef is_gone(self):\n    w._Probe.is_gone = real\n    raise KeyboardInterrupt\nw._Probe.is_gone = is_gone\n"
        status, out, err = self.run_program(LAST + USE + code)
        self.assertEqual((status, out), (0, ALONE))
        self.assertIn("KeyboardInterrupt", err)

    def test_an_interrupt_in_the_hook_does_not_keep_the_programs_own_from_running(self):
        code = "def own(*_):\n    print('own')\n" + "sys.excepthook = own\n" + USE + "def note(*_):\n    raise KeyboardInterrupt\nw._Probe.note = note\nraise ValueError\n"
        status, out, err = self.run_program(code)
        self.assertEqual((status, out), (1, "own\n"))
        self.assertIn("KeyboardInterrupt", err)


if __name__ == "__main__":
    unittest.main()
