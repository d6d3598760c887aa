"""The harness of ends.py: a hang and a program that gets no processor are told apart, and the stacks of a late one are had."""
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import standing
from harness import ProbeTest, until

HANG = "import threading\ndef stuck_here():\n    lock = threading.Lock()\n    lock.acquire()\n    print('stuck', flush=True)\n    lock.acquire()\nstuck_here()"

def can_attach():
    if shutil.which("gdb") is None:
        return False
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        try:
            return subprocess.run(["gdb", "-q", "-nx", "-batch", "-p", str(sleeper.pid)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        finally:
            sleeper.kill()


class Late(ProbeTest):
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

    @unittest.skipUnless(can_attach(), "no gdb, or it may not attach")
    def test_the_stacks_of_a_late_one(self):
        with subprocess.Popen([sys.executable, "-c", HANG], env=dict(os.environ, TEST_END="a mark"), stdout=subprocess.PIPE) as process:
            try:
                self.assertEqual(process.stdout.readline(), b"stuck\n")
                found = standing.stacks("a mark")[process.pid]
            finally:
                process.kill()
        self.assertIn("Thread", found["native"])
        # A call that gdb makes in a thread that waits on a futex may end the wait with a number that glibc does not know, and glibc then ends the program: the stacks of late ones are for us alone.
        if process.wait() == -signal.SIGABRT:
            self.skipTest("glibc ended the program when gdb called into it")
        self.assertIn("in stuck_here", found["python"])
