"""Forks, spawned children, kills and ends: no thread, no descriptor and no file where none belongs, and never a torn line."""
import os
import signal
import socket
import sys
import time
import unittest

from harness import PRELUDE, PROBE, ProbeTest, Program, until

USE = """
import torch
torch.cuda.init()
torch._state.devices[0].allocate(1000)
until(lambda: w._probe and (w._probe.seq > 1 or w._probe.link and w._probe.link.bound), "the probe")
def count_sockets():
    count = 0
    for fd in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink("/proc/self/fd/" + fd).startswith("socket:")
        except OSError:
            pass
    return count
"""


class Forks(ProbeTest):
    def check_child(self, code):
        program = self.start(USE + code)
        # the child's own words: threads, sockets, its probe
        self.assertEqual(program.says("child"), "1 0 None")
        return program

    FORK = """
pid = os.fork()
if pid == 0:
    print("child", threads(), count_sockets(), w._probe, flush=True)
    try:
        torch.cuda.init()
    except RuntimeError:
        pass
    assert threads() == 1
    %s
assert os.waitpid(pid, 0)[1] == 0
print("parent", w._probe.link.bound is not None and os.path.exists(w._probe.link.bound), flush=True)
input()
"""

    def test_a_forked_child_has_nothing_of_it_and_the_parents_stream_goes_on(self):
        for end in ("os._exit(0)", "sys.exit(0)"):
            with self.subTest(end=end):
                agent = self.agent()
                program = self.check_child(self.FORK % end)
                self.assertEqual(program.says("parent"), "False")
                at = len(agent.lines("sample"))
                until(lambda: len(agent.lines("sample")) > at + 3, "samples after the fork")
                program.go()
                self.assertEqual(program.end()[0], 0)
                agent.wait("bye")
                self.assertEqual(len(agent.readers), 1)
                self.assertEqual((agent.readers[0].torn, len(agent.lines("bye"))), (b"", 1))
                agent.close()

    def test_the_parents_own_socket_outlives_its_children_and_not_itself(self):
        program = self.check_child(self.FORK % "sys.exit(0)")
        self.assertEqual(program.says("parent"), "True")
        self.assertEqual(len(os.listdir(self.own)), 1)
        program.go()
        self.assertEqual((program.end()[0], os.listdir(self.own)), (0, []))

    def test_workers_of_multiprocessing(self):
        agent = self.agent()
        program = self.start(
            USE
            + """
import multiprocessing
def work(queue):
    queue.put((threads(), count_sockets(), w._probe))
context = multiprocessing.get_context("fork")
pipes = [context.SimpleQueue() for _ in range(4)]
workers = [context.Process(target=work, args=(pipe,)) for pipe in pipes]
for worker in workers: worker.start()
got = [pipe.get() for pipe in pipes]
for worker in workers: worker.join()
print(sorted(set(got)), [worker.exitcode for worker in workers], flush=True)
"""
        )
        code, out, _ = program.end()
        self.assertEqual((code, out), (0, "[(1, 0, None)] [0, 0, 0, 0]\n"))
        self.assertEqual(len(agent.lines("bye")), 1)

    def test_a_child_of_a_fork_before_cuda_has_a_probe_of_its_own(self):
        for lazy in ("1", "0"):
            with self.subTest(lazy=lazy):
                agent = self.agent()
                program = self.start(
                    """
                    import torch
                    pid = os.fork()
                    torch.cuda.init()
                    torch._state.devices[0].allocate(1000)
                    until(lambda: w._probe and w._probe.seq > 1)
                    if pid != 0:
                        assert os.waitpid(pid, 0)[1] == 0
                    """,
                    STANDIN_LAZY=lazy,
                )
                code, _, _ = program.end()
                self.assertEqual(code, 0)
                until(lambda: len(agent.lines("bye")) == 2, "two byes")
                self.assertEqual(len({line["pid"] for line in agent.lines("hello")}), 2)
                self.assertEqual(len(agent.readers), 2)
                agent.close()

    def test_a_spawned_child_has_a_probe_of_its_own(self):
        agent = self.agent()
        path = os.path.join(self.folder, "program.py")
        with open(path, "w") as file:
            file.write(
                "import multiprocessing, subprocess, sys, time\n"
                "def work():\n"
                "    import torch\n"
                "    torch.cuda.init()\n"
                "    w = sys.modules['warpwatch_probe']\n"
                "    while not (w._probe and w._probe.link and w._probe.link.number): time.sleep(0.005)\n"
                "if __name__ == '__main__':\n"
                "    work()\n"
                "    child = multiprocessing.get_context('spawn').Process(target=work)\n"
                "    child.start()\n"
                "    child.join()\n"
                "    sys.exit(child.exitcode)\n"
            )
        folder = os.path.join(PROBE, "sitecustomize")
        env = self.env()
        command = [sys.executable, path]
        program = Program(command, self.env(PYTHONPATH=folder + os.pathsep + env["PYTHONPATH"]), self.settle)
        self.addCleanup(self.stop, program)
        code, _, _ = program.end()
        self.assertEqual(code, 0)
        until(lambda: len(agent.lines("bye")) == 2, "two byes")
        self.assertEqual(len({line["pid"] for line in agent.lines("hello")}), 2)


class Ends(ProbeTest):
    def test_quiet_and_complete(self):
        agent = self.agent()
        for flags in ((), ("-X", "dev", "-W", "error"), ("-O",)):
            with self.subTest(flags=flags):
                before = len(agent.lines("bye"))
                self.assertEqual(self.run_program(USE, flags=flags), (0, "", ""))
                until(lambda: len(agent.lines("bye")) == before + 1, "bye")
        agent.close()
        for flags in ((), ("-X", "dev", "-W", "error")):
            with self.subTest(own=flags):
                self.assertEqual(self.run_program(USE, flags=flags), (0, "", ""))
                self.assertEqual(os.listdir(self.own), [])

    def test_in_the_middle_of_everything(self):
        agent = self.agent()
        for code in ("torch.cuda.init()", "import threading\nthreading.Thread(target=torch.cuda.init).start()", "torch.cuda.init()\nraise SystemExit(0)"):
            with self.subTest(code=code):
                self.assertEqual(self.run_program("import torch\n" + code), (0, "", ""))
        agent.close()

    def test_killed(self):
        agent = self.agent()
        program = self.start(USE + "print('up', flush=True)\ninput()")
        program.says("up")
        agent.wait("sample")
        program.process.send_signal(signal.SIGKILL)
        until(lambda: agent.readers[0].ended, "the end of the stream")
        self.assertEqual((agent.lines("bye"), agent.readers[0].torn), ([], b""))

    def test_the_next_probe_removes_what_a_killed_one_left_and_nothing_else(self):
        program = self.start(USE + "print('up', flush=True)\ninput()")
        program.says("up")
        program.process.send_signal(signal.SIGKILL)
        program.process.wait()
        (left,) = os.listdir(self.own)
        path = os.path.join(self.own, left)
        old = time.time() - 3600
        kept = {".warpwatch-1-1.sock": "", "other.sock": "", ".warpwatch-x.sock": ""}
        for name in kept:
            with open(os.path.join(self.own, name), "w"):
                pass
            os.utime(os.path.join(self.own, name), (old, old))
        # of a process of another pid namespace that shares /tmp: its pid is nobody here, but it listens
        foreign = socket.socket(socket.AF_UNIX)
        self.addCleanup(foreign.close)
        foreign.bind(os.path.join(self.own, ".warpwatch-7-7.sock"))
        foreign.listen(1)
        os.utime(os.path.join(self.own, ".warpwatch-7-7.sock"), (old, old))
        code = USE + "print('names', sorted(os.listdir(w._OWN_DIR)), flush=True)\n"
        young = self.run_program(code)
        self.assertIn(left, young[1])  # it may be about to listen
        os.utime(path, (old, old))
        self.assertNotIn(left, self.run_program(code)[1])
        self.assertEqual(set(os.listdir(self.own)), set(kept) | {".warpwatch-7-7.sock"})

    def test_a_program_that_replaces_itself(self):
        again = PRELUDE + USE + "print('again', os.path.basename(w._probe.link.bound), flush=True)\n"
        program = self.start(USE + "print('first', os.path.basename(w._probe.link.bound), flush=True)\nos.execv(sys.executable, [sys.executable, '-c', %r])" % again)
        name = program.says("first")
        self.assertEqual(program.says("again"), name)
        self.assertEqual((program.end()[0], os.listdir(self.own)), (0, []))

    def test_forks_do_not_warn_more_than_python_must(self):
        # Before CUDA there is no thread, so Python 3.12's warning about forks with threads has no reason.
        code = "import torch, warnings\nwarnings.simplefilter('error')\npid = os.fork()\nif pid == 0: os._exit(0)\nos.waitpid(pid, 0)\n"
        self.assertEqual(self.run_program(code), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
