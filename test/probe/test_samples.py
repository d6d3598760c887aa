"""What samples and hello say: only what torch said, by its release; nothing stands in for what could not be read."""
import json
import os
import re

from harness import ProbeTest

USE = """
    import torch
    torch.cuda.init()
    state = torch._state
    state.devices[0].allocate(1000)
"""
KEYS = {"allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes", "num_alloc_retries", "num_ooms"}


class Samples(ProbeTest):
    def program(self, more="", *arguments, **options):
        program = self.start(USE + more + "\n    input()\n", *arguments, **options)
        self.addCleanup(lambda: None)
        return program

    def finish(self, program):
        program.go()
        self.assertEqual(program.end()[0], 0)

    def test_by_release(self):
        releases = {"1.13.1": KEYS, "2.0.1": KEYS | {"requested_bytes"}, "2.4.0": KEYS | {"requested_bytes"}}
        releases["2.12.0"] = releases["2.4.0"] | {"num_oom_rejections"}
        for release, keys in releases.items():
            with self.subTest(release=release):
                agent = self.agent()
                program = self.program(STANDIN_VERSION=release)
                sample = agent.wait("sample", lambda line: line["devices"])
                stats = sample["devices"]["0"]["stats"]
                self.assertEqual(set(stats), keys)
                self.assertEqual([stats["allocated_bytes"], stats["reserved_bytes"]], [[1000, 1000], [2000, 2000]])
                self.assertEqual(sample["drop"], 0)
                self.assertGreater(sample["took_ms"], 0)
                self.finish(program)
                lines = agent.lines()
                self.assertEqual((lines[0]["type"], lines[-1]["type"]), ("hello", "bye"))
                self.assertEqual([line["seq"] for line in agent.lines("sample")], list(range(1, len(agent.lines("sample")) + 1)))
                agent.close()

    def test_hello(self):
        agent = self.agent()
        arguments = ["--api-key", "AAA", "--lr=1", "--hf-token=BBB", "--verbose", "--Password", "CCC", "x" * 300, "5", "6", "7", "8"]
        program = self.program("", *arguments, LOCAL_RANK="3", CUDA_VISIBLE_DEVICES="0", PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True,a:1", SECRET="DDD")
        hello = agent.wait("hello", lambda line: line["devices"])
        with open("/proc/%d/stat" % program.pid) as file:
            stat = file.read()
        self.assertEqual((hello["v"], hello["pid"], hello["start_ticks"]), (1, program.pid, int(stat.rpartition(")")[2].split()[19])))
        self.assertEqual(hello["pidns"], os.stat("/proc/%d/ns/pid" % program.pid).st_ino)
        self.assertEqual(hello["mntns"], os.stat("/proc/%d/ns/mnt" % program.pid).st_ino)
        self.assertEqual(hello["exe"], os.readlink("/proc/%d/exe" % program.pid))
        self.assertEqual(hello["argv"], ["-c", "--api-key", "--lr=1", "--hf-token=", "--verbose", "--Password", "x" * 200, "5"])
        self.assertNotRegex(json.dumps(agent.lines()), "AAA|BBB|CCC|DDD")
        self.assertEqual((hello["torch"], hello["backend"], hello["expandable"]), ("2.6.0+cu124", "native", True))
        self.assertEqual(hello["settings"], "expandable_segments:True,a:1")
        expected = {"LOCAL_RANK": "3", "CUDA_VISIBLE_DEVICES": "0", "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True,a:1"}
        self.assertEqual(hello["env"], expected)
        device = {"i": 0, "uuid": "GPU-00000000-1111-2222-3333-000000000000", "total_bytes": 80 * 2**30, "pci_bus_id": "00000000:1B:00.0"}
        self.assertEqual(hello["devices"], [device])
        self.finish(program)

    def test_a_hello_of_great_length_is_cut(self):
        agent = self.agent()
        program = self.program("", *["\U0001f600" * 300] * 9, CUDA_VISIBLE_DEVICES="9" * 5000, PYTORCH_ALLOC_CONF="\u20ac" * 5000, LOCAL_RANK="3")
        hello = agent.wait("hello", lambda line: line["devices"])
        self.assertLess(len(json.dumps(hello)), 16384)
        self.assertEqual((hello["env"]["LOCAL_RANK"], hello["pid"]), ("3", program.pid))
        self.finish(program)

    def test_which_device(self):
        whole = "MIG-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
        cases = [
            (dict(STANDIN_VERSION="2.1.0", CUDA_VISIBLE_DEVICES="2"), {"visible": "2"}),
            (dict(STANDIN_VERSION="2.1.0"), {"visible": None}),
            (dict(STANDIN_VERSION="2.1.0", CUDA_VISIBLE_DEVICES="GPU-aaaa"), {"visible": "GPU-aaaa"}),
            (dict(STANDIN_VERSION="2.1.0", CUDA_VISIBLE_DEVICES=whole), {"uuid": whole}),
            (dict(STANDIN_NAME="NVIDIA A100-SXM4-40GB MIG 1g.5gb"), {"uuid": "MIG-00000000-1111-2222-3333-000000000000"}),
        ]
        for env, expected in cases:
            with self.subTest(**env):
                agent = self.agent()
                program = self.program(**env)
                device = agent.wait("hello", lambda line: line["devices"])["devices"][0]
                self.assertEqual({name: device[name] for name in ("uuid", "visible") if name in device}, expected)
                self.finish(program)
                agent.close()

    def test_devices_come_into_use_and_others_stay_out(self):
        agent = self.agent()
        program = self.program("""
    until(lambda: w._probe and w._probe.seq > 40)
    state.devices[5].allocate(7)
    """, STANDIN_DEVICES="8")
        agent.wait("sample", lambda line: set(line["devices"]) == {"0"} and line["seq"] > 35)
        agent.wait("sample", lambda line: set(line["devices"]) == {"0", "5"})
        self.assertEqual([[device["i"] for device in line["devices"]] for line in agent.lines("hello")], [[0], [0, 5]])
        self.finish(program)

    def test_the_memory_fraction(self):
        total = 80 * 2**30
        after = "until(lambda: w._probe and w._probe.seq > 2); torch.cuda.set_per_process_memory_fraction(0.25, 0)"
        for release in ("2.6.0", "2.4.0"):
            with self.subTest(release=release):
                agent = self.agent()
                program = self.program("\n    %s\n" % after, STANDIN_VERSION=release)
                first = agent.wait("sample", lambda line: line["devices"])
                self.assertIsNone(first["devices"]["0"]["limit_bytes"])
                agent.wait("sample", lambda line: line["devices"] and line["devices"]["0"]["limit_bytes"] == total // 4)
                self.finish(program)
                agent.close()
        # Set before the probe saw it: known where torch can be asked, absent where not.
        late = "import torch; torch.cuda.set_per_process_memory_fraction(0.5)\n" + __import__("harness").PRELUDE
        for release, expected in {"2.6.0": total // 2, "2.4.0": "absent"}.items():
            with self.subTest(late=release):
                agent = self.agent()
                program = self.program(prelude=late, STANDIN_VERSION=release)
                sample = agent.wait("sample", lambda line: line["devices"])
                self.assertEqual(sample["devices"]["0"].get("limit_bytes", "absent"), expected)
                self.finish(program)
                agent.close()

    def test_settings_changed_by_the_program(self):
        agent = self.agent()
        program = self.program("\n    torch._C._cuda_cudaCachingAllocator_set_allocator_settings('expandable_segments:False')", PYTORCH_ALLOC_CONF="expandable_segments:True")
        agent.wait("hello", lambda line: line["devices"])
        program.go()
        program.end()
        self.assertIn(agent.lines("hello")[-1]["expandable"], (True, False))
        code, out, _ = self.run_program(
            """
            import torch
            torch._C._cuda_cudaCachingAllocator_set_allocator_settings("expandable_segments:False")
            torch.cuda.init()
            until(lambda: w._probe and w._probe.started)
            print(w._probe.expandable())
            """,
            PYTORCH_ALLOC_CONF="expandable_segments:True",
        )
        self.assertEqual((code, out), (0, "False\n"))

    def test_an_unknown_default_is_not_told(self):
        for release, expected in {"2.10.0": False, "2.12.0": "absent"}.items():
            agent = self.agent()
            program = self.program(STANDIN_VERSION=release)
            self.assertEqual(agent.wait("hello").get("expandable", "absent"), expected)
            self.finish(program)
            agent.close()

    def test_a_backend_that_fills_a_part(self):
        agent = self.agent()
        program = self.program(STANDIN_BACKEND="cudaMallocAsync")
        sample = agent.wait("sample", lambda line: line["devices"])
        self.assertEqual(set(sample["devices"]["0"]["stats"]), {"allocated_bytes", "reserved_bytes", "active_bytes"})
        self.assertEqual(agent.lines("hello")[0]["backend"], "cudaMallocAsync")
        self.finish(program)

    def test_what_is_no_number_is_left_out_and_counted(self):
        bad = [
            "dict(active_bytes=dict(all=dict(current=float('nan'), peak=1)))",
            "dict(active_bytes=dict(all=dict(current=float('inf'), peak=1)))",
            "dict(active_bytes=dict(all=dict(current=-1, peak=1)))",
            "dict(active_bytes=dict(all=dict(current='1', peak=1)))",
            "dict(active_bytes=None)",
        ]
        for override in bad:
            with self.subTest(override=override):
                agent = self.agent()
                program = self.program("\n    state.devices[0].override = %s" % override)
                sample = agent.wait("sample", lambda line: line["devices"] and line["drop"] > 0)
                self.assertEqual(set(sample["devices"]["0"]["stats"]), KEYS - {"active_bytes"} | {"requested_bytes"})
                self.finish(program)
                agent.close()
        agent = self.agent()
        program = self.program("\n    state.devices[0].override = dict(num_ooms=True, active_bytes=dict(all={}))")
        sample = agent.wait("sample", lambda line: line["devices"] and line["drop"] > 0)
        self.assertEqual(set(sample["devices"]["0"]["stats"]), KEYS - {"active_bytes", "num_ooms"} | {"requested_bytes"})
        self.finish(program)

    def test_statistics_that_raise(self):
        agent = self.agent()
        program = self.program("""
    until(lambda: w._probe and w._probe.seq > 2)
    state.stats_failure = RuntimeError("CUDAPluggableAllocator does not yet support getDeviceStats")
    input()
    state.stats_failure = None
    """)
        failed = agent.wait("sample", lambda line: line["drop"] > 1)
        self.assertEqual(failed["devices"], {})
        program.go()
        agent.wait("sample", lambda line: line["seq"] > failed["seq"] and line["devices"])
        program.go()
        self.assertEqual(program.end(), (0, "", ""))

    def test_a_second_that_fails_altogether_is_counted_and_the_next_one_comes(self):
        agent = self.agent()
        program = self.program("""
    until(lambda: w._probe and w._probe.seq > 2)
    def broken():
        w._probe.read = type(w._probe).read.__get__(w._probe)
        raise MemoryError()
    w._probe.read = broken
    """)
        agent.wait("sample", lambda line: line["drop"] == 1 and line["devices"])
        program.go()
        self.assertEqual(program.end(), (0, "", ""))

    def test_versions_as_they_come(self):
        code, out, _ = self.run_program("print([w._version(v) for v in ('2.4.0a0+3bcc3cddb5.nv24.07', '1.13.1', '2', '', 'git', 'a.b')])")
        self.assertEqual((code, out), (0, "[(2, 4), (1, 13), None, None, None, None]\n"))
        self.assertTrue(re.match(r"\d+\.\d+\.\d+$", self.run_program("print(w.__version__)")[1].strip()))
