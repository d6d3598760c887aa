"""The harness of ends.py: a hang and a program that gets no processor are told apart, and the stacks of a late one are had."""
import io
import os
import shutil
import subprocess
import sys
import time
import unittest
from contextlib import redirect_stderr

import standing
from ends import Runner
from harness import ProbeTest, until

HANG = "import threading\ndef stuck_here():\n    lock = threading.Lock()\n    lock.acquire()\n    print('stuck', flush=True)\n    lock.acquire()\nstuck_here()"
# On one processor with two loops that the kernel prefers a thousand times; it wants 0.2 s of it.
STARVED = """
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
began = time.process_time()
while time.process_time() - began < 0.2: pass
print("ended")
"""
LOOP = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(10**5): pass\n"


def can_attach():
    if shutil.which("gdb") is None:
        return False
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        try:
            return subprocess.run(["gdb", "-q", "-nx", "-batch", "-p", str(sleeper.pid)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        finally:
            sleeper.kill()


class Late(ProbeTest):
    def end(self, code, late_s, hung_s):
        folder = os.path.join(self.folder, "ends")
        os.mkdir(folder)
        runner = Runner(folder, late_s=late_s, hung_s=hung_s)
        with redirect_stderr(io.StringIO()):
            ended = runner.end("a way", code, ((), {}), 0, False)
        return ended, runner.late

    def test_a_hang_is_asleep_however_busy_the_machine_is(self):
        with subprocess.Popen([sys.executable, "-c", HANG], env=dict(os.environ, TEST_END="a mark"), stdout=subprocess.PIPE) as process:
            try:
                self.assertEqual(process.stdout.readline(), b"stuck\n")
                until(lambda: {each["state"] for each in standing.threads("a mark").values()} == {"S"}, "the program to hang")
                before, began = standing.threads("a mark"), time.monotonic()
                time.sleep(0.3)
                spent = standing.starvation(before, standing.threads("a mark"), time.monotonic() - began)
                self.assertFalse(standing.is_starved(spent), spent)
                self.assertEqual(standing.members("a mark"), [process.pid])
            finally:
                standing.kill("a mark")
        self.assertEqual(process.returncode, -9)

    def test_a_program_that_gets_no_processor(self):
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(before)})
        loops = [subprocess.Popen([sys.executable, "-S", "-c", LOOP]) for _ in range(2)]
        try:
            ended, late = self.end(STARVED, 1.5, 3)
        finally:
            os.sched_setaffinity(0, before)
            for loop in loops:
                loop.kill()
                loop.wait()
        self.assertIn(ended, (None, [0, "ended\n", ""]))
        self.assertEqual([each["verdict"] for each in late], ["starved"])

    @unittest.skipUnless(can_attach(), "no gdb, or it may not attach")
    def test_the_stacks_of_a_late_one(self):
        with subprocess.Popen([sys.executable, "-c", HANG], env=dict(os.environ, TEST_END="a mark"), stdout=subprocess.PIPE) as process:
            try:
                self.assertEqual(process.stdout.readline(), b"stuck\n")
                found = standing.stacks("a mark")[process.pid]
            finally:
                process.kill()
        self.assertIn("Thread", found["native"])
        self.assertIn("in stuck_here", found["python"])
