"""What the probe's tests share: a listener in the agent's place, and programs that run with the probe and the stand-in for torch."""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROBE = os.path.join(HERE, "..", "..", "probe", "python")
DEADLINE_S = 120
# Compiled files belong beside a copy (test/setup/probe-copy.ts), never into the repository.
BYTECODE = {} if os.environ.get("TEST_PROBE_COPY") else {"PYTHONDONTWRITEBYTECODE": "1"}

# Faster than in life, and in a folder of the test's own.
PRELUDE = """
import os, sys, time
import warpwatch_probe as w
w._PERIOD_S = 0.03
w._RETRY_S = 0.1
w._POOLS_EACH_S = 0.0
w._OWN_DIR = os.environ["TEST_OWN_DIR"]
w._EXIT_WAIT_S = 30.0  # a busy machine may not let its thread run for longer than in life
def threads():
    return len(os.listdir("/proc/self/task"))
def until(condition, what="a condition", clock=time.monotonic, sleep=time.sleep):
    end = clock() + 100
    while not condition():
        assert clock() < end, "waited for " + what
        sleep(0.005)
"""


def until(ask, what):
    """Waits for a condition, and fails with what was awaited."""
    end = time.monotonic() + DEADLINE_S
    while True:
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError("waited %d s for %s" % (DEADLINE_S, what() if callable(what) else what))
        time.sleep(0.005)


class Reader:
    """Reads the lines of one connection; `ended` when the other side is gone, `torn` what came after the last line end."""

    def __init__(self, conn):
        self.conn, self.lines, self.ended, self.torn = conn, [], False, b""
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        rest = b""
        try:
            while True:
                data = self.conn.recv(65536)
                if not data:
                    break
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    assert len(line) < 65536
                    self.lines.append(json.loads(line, parse_constant=lambda word: 1 / 0))
        except OSError:
            pass
        self.conn.close()
        self.torn, self.ended = rest, True

    def close(self):
        try:
            self.conn.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.conn.close()


class Agent:
    """Listens where the agent does. With `reads=False` it accepts and then reads nothing."""

    def __init__(self, path, reads=True):
        self.path, self.reads, self.readers, self.held, self.closed = path, reads, [], [], False
        self.socket = socket.socket(socket.AF_UNIX)
        if os.path.exists(path):  # of a subtest that failed
            os.unlink(path)
        self.socket.bind(path)
        self.socket.listen(16)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                conn, _ = self.socket.accept()
            except OSError:
                return
            if self.reads:
                self.readers.append(Reader(conn))
            else:
                self.held.append(conn)

    def lines(self, kind=None):
        return [line for reader in list(self.readers) for line in list(reader.lines) if kind in (None, line["type"])]

    def wait(self, kind, condition=lambda line: True):
        found = until(lambda: [line for line in self.lines(kind) if condition(line)], lambda: "%s; came %r" % (kind, self.lines()[-4:]))
        return found[0]

    def settle(self):
        """Waits until everything that was sent by programs that have ended is here."""
        if self.closed or not self.reads:
            return
        last = socket.socket(socket.AF_UNIX)
        last.connect(self.path)  # accepted after all that came before it
        last.send(b'{"type": "mark"}\n')
        until(lambda: self.lines("mark"), "a mark of our own")
        last.close()
        until(lambda: all(reader.ended for reader in self.readers), "the ends of all streams")
        self.readers = [reader for reader in self.readers if not any(line["type"] == "mark" for line in reader.lines)]

    def close(self):
        """As an agent's end: the listener, its file and all connections go."""
        self.closed = True
        try:
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes accept()
        except OSError:
            pass
        self.socket.close()
        for reader in self.readers:
            reader.close()
        for conn in self.held:
            conn.close()
        if os.path.exists(self.path):
            os.unlink(self.path)


class Program:
    def __init__(self, command, env, settle=lambda: None):
        self.settle = settle
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        self.pid = self.process.pid

    def says(self, word):
        """Waits for a line that begins with the word; gives what stands behind it."""
        line = self.process.stdout.readline()
        if not line.startswith(word):
            raise AssertionError("expected %s, came %r; stderr: %s" % (word, line, self.process.stderr.read() if line == "" else ""))
        return line[len(word) :].strip()

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        """(exit code, stdout, stderr)"""
        out, err = self.process.communicate(timeout=DEADLINE_S)
        self.settle()
        return self.process.returncode, out, err


class ProbeTest(unittest.TestCase):
    def setUp(self):
        self.agents = []
        self.folder = tempfile.mkdtemp(prefix="wwp-", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.own = os.path.join(self.folder, "own")
        os.mkdir(self.own)
        self.path = os.path.join(self.folder, "probe.sock")

    def agent(self, **options):
        agent = Agent(self.path, **options)
        self.agents.append(agent)
        self.addCleanup(agent.close)
        return agent

    def env(self, **more):
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "WARPWATCH", "STANDIN", "CUDA", "PYTORCH"))}
        env.update(BYTECODE, PYTHONPATH=os.pathsep.join([os.path.join(HERE, "standin"), PROBE]))
        env.update(WARPWATCH_PROBE_SOCKET=self.path, TEST_OWN_DIR=self.own)
        env.update(more)
        return env

    def start(self, code, *arguments, flags=(), prelude=PRELUDE, python=sys.executable, **env):
        text = prelude + textwrap.dedent(code)
        program = Program([python, *flags, "-c", text, *arguments], self.env(**env), self.settle)
        self.addCleanup(self.stop, program)
        return program

    def settle(self):
        for agent in self.agents:
            agent.settle()

    def stop(self, program):
        if program.process.poll() is None:
            program.process.kill()
            program.process.wait()
        for stream in (program.process.stdin, program.process.stdout, program.process.stderr):
            stream.close()

    def run_program(self, code, *arguments, **options):
        return self.start(code, *arguments, **options).end()
