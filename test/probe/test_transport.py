"""The way to the agent: restarts lose no out-of-memory, a reader that never reads stops nothing, the probe's own socket stands in for the mount."""
import os
import socket
import stat
import unittest

from harness import PRELUDE, ProbeTest, Reader, until

USE = """
import torch
torch.cuda.init()
state = torch._state
state.devices[0].allocate(1000)
def fail():
    try:
        state.devices[0].fail(1000)
    except torch.cuda.OutOfMemoryError:
        pass
"""
UP = "until(lambda: w._probe and w._probe.seq > 1)\n"


class Restarts(ProbeTest):
    def test_an_agent_that_comes_late_goes_and_comes_again(self):
        program = self.start(USE + "until(lambda: w._probe and w._probe.started)\nfail()\nprint('failed', flush=True)\nuntil(lambda: not w._probe.kept)\nprint('taken', flush=True)\ninput()\nfail()\nprint('failed', flush=True)\ninput()")
        program.says("failed")
        first = self.agent()
        self.assertEqual(first.wait("oom")["n"], 1)
        kinds = [line["type"] for line in first.lines()]
        self.assertEqual(kinds[:2], ["hello", "oom"])
        # Read, and the connection has stood for two samples since.
        program.says("taken")
        first.close()
        program.go()
        program.says("failed")
        second = self.agent()
        self.assertEqual([second.wait("oom")["n"], [line["n"] for line in second.lines("oom")]], [2, [2]])
        self.assertEqual(second.lines()[0]["type"], "hello")
        second.wait("sample")
        program.go()
        self.assertEqual(program.end(), (0, "", ""))

    def test_what_an_agent_had_not_read_when_it_died_is_sent_again_with_the_same_number(self):
        agent = self.agent(reads=False)
        # Sent, and samples after it, but never read.
        program = self.start(USE + UP + "fail()\nseq = w._probe.seq\nuntil(lambda: w._probe.seq > seq + 5)\nprint('failed', flush=True)\ninput()")
        program.says("failed")
        agent.close()
        second = self.agent()
        self.assertEqual(second.wait("oom")["n"], 1)
        program.go()
        self.assertEqual(program.end(), (0, "", ""))

    def test_one_read_by_an_agent_that_dies_at_once_is_sent_again(self):
        # It has read the line, but lived for one more sample at most: the program sees to it that no other follows.
        agent = self.agent()
        program = self.start(
            USE
            + UP
            + """
def tick():
    seq, w._probe.due = w._probe.seq, 0.0
    w._probe.rouse()
    until(lambda: w._probe.seq > seq and w._probe.due > time.monotonic() + 20)
w._PERIOD_S = 600
tick()
fail()
for _ in range(2):
    input()
    tick()
    print("ticked", flush=True)
input()
"""
        )
        agent.wait("oom")
        program.go()
        program.says("ticked")
        agent.close()
        second = self.agent()
        program.go()
        self.assertEqual(second.wait("oom")["n"], 1)
        program.says("ticked")
        program.go()
        self.assertEqual(program.end(), (0, "", ""))

    def test_the_last_eight_are_kept(self):
        program = self.start(USE + "until(lambda: w._probe and w._probe.started)\nfor _ in range(20): fail()\nprint('failed', flush=True)\ninput()")
        program.says("failed")
        agent = self.agent()
        agent.wait("sample")
        agent.wait("oom", lambda line: line["n"] == 20)
        self.assertEqual([line["n"] for line in agent.lines("oom")], list(range(13, 21)))
        self.assertEqual(agent.lines("sample")[0]["drop"], 12)
        program.go()
        self.assertEqual(program.end()[0], 0)

    def test_a_program_that_dies_at_once_has_told_why(self):
        agent = self.agent()
        # No exit handlers, no thread that gets its turn: what is sent at once is there.
        program = self.start(USE + UP + "fail()\nos._exit(3)")
        self.assertEqual(program.end()[0], 3)
        self.assertEqual(agent.wait("oom")["n"], 1)

    def test_an_agent_that_comes_only_at_the_end(self):
        program = self.start(USE + "w._RETRY_S = w._EAGER_S = 0\nuntil(lambda: w._probe and w._probe.started)\nw._RETRY_S = 600\ntime.sleep(0.1)\nfail()\nprint('failed', flush=True)\ninput()")
        program.says("failed")
        agent = self.agent()
        program.go()
        self.assertEqual(program.end()[0], 0)
        agent.wait("oom")
        self.assertEqual(agent.lines()[-1]["type"], "bye")


class Hostile(ProbeTest):
    def test_a_reader_that_never_reads_stops_nothing(self):
        agent = self.agent(reads=False)
        program = self.start(
            USE
            + UP
            + """
steps = 0
while w._probe.drop < 50:  # the socket is full and what comes is dropped, while the program goes on
    fail()
    steps += 1
print("steps", steps, flush=True)
"""
        )
        self.assertGreater(int(program.says("steps")), 50)
        self.assertEqual(program.end(), (0, "", ""))
        self.assertTrue(agent.held)

    def test_a_reader_that_talks_and_one_that_leaves_at_once(self):
        agent = self.agent()
        program = self.start(USE + UP + "input()")
        agent.wait("sample")
        for reader in agent.readers:
            reader.conn.sendall(b"x" * 100_000)
        seq = agent.lines("sample")[-1]["seq"]
        agent.wait("sample", lambda line: line["seq"] > seq + 3)
        for _ in range(3):
            count = len(agent.readers)
            agent.readers[-1].close()
            until(lambda: len(agent.readers) > count, "the next connection")
        program.go()
        self.assertEqual(program.end(), (0, "", ""))

    def test_paths_that_cannot_be(self):
        for path in ("/proc/self/nothing/probe.sock", "/tmp", "/dev/null", "x" * 300, "relative.sock"):
            with self.subTest(path=path):
                self.assertEqual(self.run_program(USE + "until(lambda: w._probe and w._probe.started)\nfail()", WARPWATCH_PROBE_SOCKET=path), (0, "", ""))
        self.assertEqual(self.run_program(USE + "until(lambda: w._probe and w._probe.started)\nfail()", TEST_OWN_DIR="/proc/nothing"), (0, "", ""))


class OwnSocket(ProbeTest):
    def connect(self, path):
        conn = socket.socket(socket.AF_UNIX)
        self.addCleanup(conn.close)
        # The name is there from bind() on, a listener only from listen() on.
        until(lambda: conn.connect_ex(path) == 0, "a listener on the probe's own socket")
        return Reader(conn)

    def test_it_stands_in_until_the_mount_is_there(self):
        program = self.start("os.umask(0)\n" + USE + "until(lambda: w._probe and w._probe.link and w._probe.link.bound)\nprint('up', flush=True)\ninput()\nfail()\ninput()")
        program.says("up")
        (name,) = os.listdir(self.own)
        path = os.path.join(self.own, name)
        with open("/proc/%d/stat" % program.pid) as file:
            self.assertEqual(name, ".warpwatch-%d-%s.sock" % (program.pid, file.read().rpartition(")")[2].split()[19]))
        self.assertEqual(stat.S_IMODE(os.lstat(path).st_mode), 0o600)
        first = self.connect(path)
        until(lambda: len(first.lines) > 2, "lines on the probe's own socket")
        self.assertEqual([line["type"] for line in first.lines[:2]], ["hello", "sample"])
        second = self.connect(path)  # an agent that started again
        until(lambda: first.ended and len(second.lines) > 2, "the newer reader")
        agent = self.agent()
        agent.wait("sample")
        until(lambda: second.ended and os.listdir(self.own) == [], "the own socket to go")
        agent.close()
        until(lambda: os.listdir(self.own) == [name], "the own socket to come back")
        program.go()
        third = self.connect(path)
        until(lambda: [line for line in third.lines if line["type"] == "oom"], "the oom")
        program.go()
        self.assertEqual((program.end(), os.listdir(self.own)), ((0, "", ""), []))


class Patched(ProbeTest):
    """As gevent does: what the probe needs it has taken before, or asks gevent for."""

    FORBID = """
import _thread, socket, sys, threading, time as clock
def forbid(module, name):
    real = getattr(module, name)
    def patched(*a, **k):
        assert sys._getframe(1).f_globals["__name__"] != "warpwatch_probe", "the probe called what was patched"
        return real(*a, **k)
    setattr(module, name, patched)
for module, names in ((clock, "sleep time monotonic thread_time"), (socket, "socket"), (threading, "Thread Lock"), (_thread, "start_new_thread allocate_lock get_ident")):
    for name in names.split():
        forbid(module, name)
"""

    def test_patched_after_the_probe(self):
        agent = self.agent()
        self.assertEqual(self.run_program(self.FORBID + USE + UP), (0, "", ""))
        agent.wait("sample", lambda line: line["devices"])

    def test_patched_before_the_probe(self):
        agent = self.agent()
        gevent = """
import sys, types, _thread, time
originals = {"_thread": dict(vars(_thread)), "time": dict(vars(time))}
sys.modules["gevent"] = types.ModuleType("gevent")
sys.modules["gevent.monkey"] = types.ModuleType("gevent.monkey")
sys.modules["gevent.monkey"].get_original = lambda module, name: originals[module][name]
"""
        self.assertEqual(self.run_program(USE + UP, prelude=gevent + self.FORBID + PRELUDE), (0, "", ""))
        agent.wait("sample", lambda line: line["devices"])


if __name__ == "__main__":
    unittest.main()
