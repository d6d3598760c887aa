"""Out of memory, caught and uncaught: the program sees exactly its own error, the agent sees what there was to see."""
from harness import PRELUDE, ProbeTest

USE = """
import torch
torch.cuda.init()
state = torch._state
for device in state.devices:
    device.allocate(1000)
until(lambda: w._probe and w._probe.seq > 1, "the probe")
"""
CATCH = """
for index, device in enumerate(state.devices):
    try:
        device.fail(1000)
    except Exception as error:
        print(type(error).__name__, str(error)[:38], flush=True)
"""
MESSAGE = "OutOfMemoryError CUDA out of memory. Tried to allocate "


class Caught(ProbeTest):
    def caught(self, code="", **env):
        agent = self.agent()
        program = self.start(USE + code + CATCH + "input()\n", **env)
        for _ in range(int(env.get("STANDIN_DEVICES", "1"))):
            self.assertEqual(program.says(MESSAGE.strip()), "")
        return agent, program

    def finish(self, program):
        program.go()
        self.assertEqual(program.end(), (0, "", ""))

    def test_a_summary_by_pool(self):
        code = """
def block(size, state):
    return dict(size=size, state=state)
def segment(blocks, **more):
    return dict(dict(device=0, stream=0, segment_type="large", segment_pool_id=(0, 0), is_expandable=False, total_size=sum(b["size"] for b in blocks), blocks=blocks), **more)
state.devices[0].segments = [
    segment([block(600, "active_allocated"), block(1500, "inactive"), block(700, "active_pending_free")]),
    segment([block(5000, "inactive")]),
    segment([block(10, "active_allocated"), block(90, "inactive")], segment_type="small"),
    segment([block(40, "active_allocated")], segment_pool_id=(1, 2), stream=77, is_expandable=True),
    segment([block(9, "inactive")], device=1),
]
"""
        for release in ("2.6.0", "2.12.0"):
            with self.subTest(release=release):
                agent, program = self.caught(code, STANDIN_VERSION=release)
                oom = agent.wait("oom")
                self.assertEqual((oom["n"], oom["device"], oom["request_bytes"], oom["limit_bytes"], oom["free_bytes"]), (1, 0, 1000, 80 * 2**30, 2**30))
                self.assertEqual(oom["stats"]["num_ooms"], 1)
                pool = dict(pool=[0, 0], stream=0, kind="large", expandable=False, segments=2, total_bytes=7800, active_bytes=600, pending_bytes=700)
                pool.update(free_bytes=6500, free_blocks=2, largest_free_bytes=5000, free_segments=1, fitting_bytes=6500)
                small = dict(pool=[0, 0], stream=0, kind="small", expandable=False, segments=1, total_bytes=100, active_bytes=10, pending_bytes=0)
                small.update(free_bytes=90, free_blocks=1, largest_free_bytes=90, free_segments=0, fitting_bytes=0)
                graph = dict(pool=[1, 2], stream=77, kind="large", expandable=True, segments=1, total_bytes=40, active_bytes=40, pending_bytes=0)
                graph.update(free_bytes=0, free_blocks=0, largest_free_bytes=0, free_segments=0, fitting_bytes=0)
                self.assertEqual(oom["pools"], [pool, small, graph])
                self.assertNotIn("skipped", oom)
                self.finish(program)
                agent.close()

    def test_gates_of_the_observer(self):
        # release, devices, whether the observer may be attached
        gates = [("1.13.1", 1, False), ("2.0.1", 1, True), ("2.0.1", 2, False), ("2.1.2", 1, True), ("2.1.2", 2, False), ("2.4.0", 2, True), ("2.12.0", 2, True)]
        for release, devices, attached in gates:
            with self.subTest(release=release, devices=devices):
                agent, program = self.caught(STANDIN_VERSION=release, STANDIN_DEVICES=str(devices))
                # Where it cannot, the count tells: it is in the next sample.
                agent.wait("sample", lambda line: all(line["devices"].get(str(i), {"stats": {"num_ooms": 0}})["stats"]["num_ooms"] == 1 for i in range(devices)))
                self.assertEqual([line["device"] for line in agent.lines("oom")], list(range(devices)) if attached else [])
                self.finish(program)
                agent.close()

    def test_no_observer_on_other_backends_and_unknown_versions(self):
        for env in (dict(STANDIN_BACKEND="cudaMallocAsync"), dict(STANDIN_BACKEND="pluggable")):
            with self.subTest(**env):
                agent, program = self.caught("assert state.devices[0].observers == []\n", **env)
                self.finish(program)
                self.assertEqual(agent.lines("oom"), [])
                agent.close()

    def test_why_there_is_no_summary(self):
        cases = [
            ("state.history = True\n", dict(STANDIN_VERSION="2.6.0"), "history is being recorded"),
            ("", dict(STANDIN_VERSION="2.0.1"), "does not tell whether it records"),
            ("state.devices[0].override = dict(active=dict(all=dict(current=60000)), inactive_split=dict(all=dict(current=60000)))\n", {}, "120000 blocks"),
            ("def broken(): raise SystemError('x')\ntorch.cuda.memory_snapshot = broken\n", {}, "the snapshot failed: SystemError"),
            ("w._POOLS_EACH_S = 100\nw._probe.told_pools_at = time.monotonic()\n", {}, "less than 100 s ago"),
        ]
        for code, env, reason in cases:
            with self.subTest(reason=reason):
                agent, program = self.caught(code, **env)
                oom = agent.wait("oom")
                self.assertIn(reason, oom["skipped"])
                self.assertNotIn("pools", oom)
                self.finish(program)
                agent.close()
        # A history that can be left out does not hinder.
        agent, program = self.caught("state.history = True\n", STANDIN_VERSION="2.12.0")
        self.assertEqual(agent.wait("oom")["pools"][0]["total_bytes"], 2000)
        self.finish(program)

    def test_an_observer_that_fails_in_any_way_leaves_the_error_as_it_is(self):
        for failure in ("SystemExit", "MemoryError", "GeneratorExit"):
            with self.subTest(failure=failure):
                agent, program = self.caught("def broken(*a): raise %s()\nw._probe.stats = broken\n" % failure)
                self.finish(program)
                agent.close()

    def test_an_interrupt_in_the_observer_comes_a_moment_later(self):
        agent = self.agent()
        code = "real, w._probe.stats = w._probe.stats, lambda i: (_ for _ in ()).throw(KeyboardInterrupt())\n"
        # Not in place of the error: that is caught first, then the interrupt ends the wait.
        code += "try:\n    state.devices[0].fail(5)\nexcept Exception as error:\n    w._probe.stats = real\n    print(type(error).__name__, flush=True)\n"
        code += "try:\n    until(lambda: False)\nexcept KeyboardInterrupt:\n    print('interrupted', flush=True)\n"
        self.assertEqual(self.run_program(USE + "\ntry:\n" + "".join("    %s\n" % line for line in code.splitlines()) + "except KeyboardInterrupt:\n    print('interrupted')\n"), (0, "OutOfMemoryError\ninterrupted\n", ""))
        self.assertEqual(agent.lines("oom"), [])

    def test_many_pools_stay_within_a_line(self):
        code = """
state.devices[0].segments = [
    dict(device=0, stream=10**14 + i, segment_type="large", segment_pool_id=(10**9, i), is_expandable=True, total_size=10**12 + i, blocks=[dict(size=10**12 + i, state="inactive")])
    for i in range(5000)
]
"""
        agent, program = self.caught(code)
        pools = agent.wait("oom")["pools"]  # the reader checks the length of each line
        self.assertEqual([pool["total_bytes"] for pool in pools[:2]], [10**12 + 4999, 10**12 + 4998])
        self.finish(program)


class Uncaught(ProbeTest):
    def bare(self, code):
        """The same program without the probe."""
        return self.run_program(code, prelude=PRELUDE.replace("import warpwatch_probe as w", "import types; w = types.SimpleNamespace(_probe=types.SimpleNamespace(seq=9))"))

    def test_the_text_arrives_and_the_program_ends_as_without_the_probe(self):
        agent = self.agent()
        code = USE + "\nstate.devices[0].fail(3 * 2**30)\n"
        with_probe, without = self.run_program(code), self.bare(code)
        self.assertEqual(with_probe[:2], without[:2])
        self.assertEqual(with_probe[0], 1)
        self.assertEqual(with_probe[2].splitlines()[-1], without[2].splitlines()[-1])
        self.assertEqual(with_probe[2].count("Traceback"), without[2].count("Traceback"))
        exc = agent.wait("exc")
        self.assertEqual((exc["n"], exc["name"]), (2, "OutOfMemoryError"))
        self.assertIn("Tried to allocate 3.00 GiB. GPU 0 has", exc["text"])
        # Where the program is slow to end, its last sample is between them.
        self.assertEqual([line["type"] for line in agent.lines() if line["type"] != "sample"][-3:], ["oom", "exc", "bye"])

    def test_the_assertion_of_nvml_and_its_causes(self):
        agent = self.agent()
        text = "NVML_SUCCESS == DriverAPI::get()->nvmlInit_v2_() INTERNAL ASSERT FAILED at CUDACachingAllocator.cpp:1123"
        code, _, _ = self.run_program(USE + "try:\n    raise RuntimeError(%r)\nexcept RuntimeError as e:\n    raise ValueError('step failed') from e\n" % text)
        exc = agent.wait("exc")
        self.assertEqual((code, exc["name"], exc["text"]), (1, "ValueError", "step failed\nRuntimeError: " + text))

    def test_the_programs_own_hooks_run(self):
        hooks = {
            # set before CUDA is up: ours calls it
            "before": ("sys.excepthook = lambda *a: print('own', a[0].__name__)\n" + USE, "own ValueError\n"),
            # set afterwards and never calling ours: Python keeps the exception for the exit
            "after": (USE + "sys.excepthook = lambda *a: print('own', a[0].__name__)\n", "own ValueError\n"),
        }
        for name, (code, said) in hooks.items():
            with self.subTest(hook=name):
                agent = self.agent()
                self.assertEqual(self.run_program(code + "raise ValueError('gone')\n"), (1, said, ""))
                self.assertEqual([(line["name"], line["text"]) for line in agent.lines("exc")], [("ValueError", "gone")])
                agent.close()

    def test_an_exception_in_a_thread(self):
        agent = self.agent()
        code = "import threading\nthreading.excepthook = lambda args: print('own', args.exc_type.__name__)\n" + USE
        code += "t = threading.Thread(target=lambda: state.devices[0].fail(5))\nt.start()\nt.join()\n"
        self.assertEqual(self.run_program(code), (0, "own OutOfMemoryError\n", ""))
        self.assertEqual([line["name"] for line in agent.lines("exc")], ["OutOfMemoryError"])

    def test_texts_of_all_kinds(self):
        texts = {"'\\u20ac' * 10000": None, "'\\udc80 lone'": "\\udc80 lone", "b'x'": "b'x'", "''": ""}
        for source, expected in texts.items():
            with self.subTest(text=source):
                agent = self.agent()
                self.assertEqual(self.run_program(USE + "raise ValueError(%s)\n" % source)[0], 1)
                text = agent.wait("exc")["text"]
                self.assertLessEqual(len(text.encode()), 8192)
                self.assertEqual(text, "\u20ac" * 2730 if expected is None else expected)
                agent.close()
        agent = self.agent()
        self.run_program(USE + "class Bad(Exception):\n    def __str__(self): raise OSError()\nraise Bad()\n")
        self.assertEqual(agent.wait("exc")["text"], "no text: OSError in __str__")

    def test_an_interrupt_and_an_exit_are_no_failures(self):
        agent = self.agent()
        self.assertEqual(self.run_program(USE + "sys.exit(7)\n"), (7, "", ""))
        self.assertNotEqual(self.run_program(USE + "raise KeyboardInterrupt()\n")[0], 0)
        self.assertEqual(agent.lines("exc"), [])

    def test_nothing_of_the_exception_is_held(self):
        code = USE + """
import gc, weakref, threading
class Tensor: pass
def work(holder):
    tensor = Tensor()
    holder.append(weakref.ref(tensor))
    raise ValueError("gone")
holder = []
threading.excepthook = lambda args: None
sys.modules["warpwatch_probe"]._hook_exceptions()
t = threading.Thread(target=work, args=(holder,)); t.start(); t.join(); del t
gc.collect()
print(holder[0]())
"""
        agent = self.agent()
        self.assertEqual(self.run_program(code), (0, "None\n", ""))
        self.assertEqual(len(agent.lines("exc")), 1)
