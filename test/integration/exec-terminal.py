"""A terminal with a shell's job control around one command, driven by steps from the command line.

exec-terminal.py STEPS COMMAND...   STEPS is JSON: ["await TEXT", "type \\u0003", "resize 40 120", "signal 15", "continue", "run kill -TERM 1"]
Prints one JSON object: what came out of the terminal, and every stop and end that the shell saw.
"""
import fcntl, json, os, pty, select, signal, struct, subprocess, sys, termios, time

steps, command = json.loads(sys.argv[1]), sys.argv[2:]
report_read, report_write = os.pipe()
shell, master = pty.fork()
if shell == 0:
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        # Python ignores some signals, which a shell does not.
        for number in (signal.SIGTTOU, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.close(report_write)
        os.execvp(command[0], command)
    os.write(report_write, b"pid %d\n" % child)
    while True:
        _, status = os.waitpid(child, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            os.write(report_write, b"stopped %d\n" % os.WSTOPSIG(status))
            continue
        os.write(report_write, b"ended %d %d\n" % (os.WIFSIGNALED(status) and os.WTERMSIG(status), os.WIFEXITED(status) and os.WEXITSTATUS(status)))
        os._exit(0)
os.close(report_write)
resize = lambda rows, cols: fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
out, seen = b"", b""


def pump(until):
    global out, seen
    deadline = time.monotonic() + 100
    while not until():
        ready, _, _ = select.select([master, report_read], [], [], 1)
        if master in ready:
            try:
                out += os.read(master, 65536)
            except OSError:
                pass
        if report_read in ready:
            seen += os.read(report_read, 4096)
        if time.monotonic() > deadline:
            print(json.dumps({"late": True, "out": out.decode("latin1"), "seen": seen.decode()}))
            os.kill(shell, signal.SIGKILL)
            sys.exit(1)


pid = lambda: int(seen.split()[1])
pump(lambda: b"\n" in seen)
for step in steps:
    word, _, rest = step.partition(" ")
    if word == "await":
        pump(lambda: rest.encode() in out)
    elif word == "type":
        os.write(master, rest.encode())
    elif word == "resize":
        resize(*map(int, rest.split()))
    elif word == "signal":
        os.kill(pid(), int(rest))
    elif word == "run":
        subprocess.run(rest, shell=True, check=True)
    elif word == "stopped":
        pump(lambda: b"stopped" in seen)
    elif word == "continue":
        os.killpg(pid(), signal.SIGCONT)
pump(lambda: b"ended" in seen)
while select.select([master], [], [], 0.2)[0]:
    try:
        out += os.read(master, 65536)
    except OSError:
        break
print(json.dumps({"out": out.decode("latin1"), "seen": [line for line in seen.decode().splitlines() if not line.startswith("pid")]}))
