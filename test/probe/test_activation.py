"""When the probe wakes up: not before torch, not before CUDA, by whichever way, and harmless where it cannot."""
import os
import shutil
import subprocess
import sys
import sysconfig
import unittest

from harness import HERE, PROBE, ProbeTest


class Waiting(ProbeTest):
    def test_no_thread_and_no_cuda_call_before_the_program_brings_cuda_up(self):
        for lazy in ("1", "0"):
            with self.subTest(lazy=lazy):
                agent = self.agent()
                program = self.start(
                    """
                    import json, decimal
                    print("before", threads(), flush=True)
                    import torch
                    print("torch", threads(), flush=True)
                    input()
                    early = list(torch._C.early)
                    torch.cuda.init()
                    torch._state.devices[0].allocate(1000)
                    print("early", early, flush=True)
                    input()
                    """,
                    STANDIN_LAZY=lazy,
                )
                self.assertEqual(program.says("before"), "1")
                # Without torch's queue it has to look from a thread, but from torch on only.
                self.assertEqual(program.says("torch"), "1" if lazy == "1" else "2")
                self.assertEqual(agent.lines(), [])
                program.go()
                self.assertEqual(program.says("early"), "[]")
                agent.wait("sample", lambda line: line["devices"])
                program.go()
                self.assertEqual(program.end()[0], 0)
                agent.close()

    def test_a_program_without_cuda_gets_nothing(self):
        agent = self.agent()
        code, out, err = self.run_program("import torch; print(threads(), sys.excepthook is sys.__excepthook__, w._probe)")
        self.assertEqual((code, out, err, agent.readers), (0, "1 True None\n", "", []))

    def test_torch_may_be_there_before_the_probe(self):
        agent = self.agent()
        for up in ("torch.cuda.init()", "pass"):
            with self.subTest(up=up):
                code, _, err = self.run_program(
                    """
                    torch.cuda.init()
                    torch._state.devices[0].allocate(1000)
                    until(lambda: w._probe.seq > 1)
                    """,
                    prelude="import torch\n%s\n" % up + "import warpwatch_probe\n" + __import__("harness").PRELUDE,
                )
                self.assertEqual((code, err), (0, ""))
        self.assertEqual(len(agent.lines("bye")), 2)

    def test_looking_for_torch_is_not_importing_it(self):
        code, out, err = self.run_program(
            """
            import importlib.util
            specs = [importlib.util.find_spec("torch"), importlib.util.find_spec("torch"), importlib.util.find_spec("nosuch")]
            print(specs[0].origin == specs[1].origin, specs[2], "torch" in sys.modules)
            import torch
            print(torch.__spec__.loader.exec_module.__qualname__, [f for f in sys.meta_path if type(f).__module__ == "warpwatch_probe"])
            """
        )
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.split("\n")[0], "True None False")
        self.assertNotIn("_Finder", out)
        self.assertTrue(out.split("\n")[1].endswith("[]"))

    def test_an_import_of_torch_that_fails_and_then_works(self):
        agent = self.agent()
        program = self.start(
            """
            try:
                import torch
            except ImportError as error:
                print("failed", error, flush=True)
            import torch
            torch.cuda.init()
            input()
            """,
            STANDIN_BROKEN=os.path.join(self.folder, "broken"),
        )
        self.assertIn("libcudart", program.says("failed"))
        agent.wait("hello")
        program.go()
        self.assertEqual(program.end()[0], 0)

    def test_a_missing_torch_is_missed_as_ever(self):
        code, _, err = self.run_program("import torch", PYTHONPATH=PROBE)
        self.assertEqual(code, 1)
        self.assertTrue(err.endswith("ModuleNotFoundError: No module named 'torch'\n"), err)


class Ways(ProbeTest):
    CODE = """
    import sys
    before = "warpwatch_probe" in sys.modules
    try:
        import torch
        watched = torch.cuda._queued_calls != []
    except ImportError:  # -I and -E hide the stand-in too
        watched = "warpwatch_probe" in sys.modules
    print(before, watched, getattr(sys, "hidden_ran", False))
    """

    def ways(self, *flags, **options):
        code, out, err = self.run_program(self.CODE, flags=flags, prelude="", **options)
        self.assertEqual((code, err), (0, ""))
        return out.strip()

    def test_the_sitecustomize_folder(self):
        hidden = os.path.join(self.folder, "hidden")
        os.mkdir(hidden)
        with open(os.path.join(hidden, "sitecustomize.py"), "w") as file:
            file.write("import sys, sitecustomize\nsys.hidden_ran = sitecustomize.__file__ == __file__\n")
        folder, standin = os.path.join(PROBE, "sitecustomize"), os.path.join(HERE, "standin")
        both = os.pathsep.join([folder, hidden, standin])
        # The probe's file is not even loaded before torch; then it watches.
        self.assertEqual(self.ways(PYTHONPATH=both), "False True True")
        self.assertEqual(self.ways(PYTHONPATH=os.pathsep.join([hidden, standin])), "False False True")
        self.assertEqual(self.ways(PYTHONPATH=both, WARPWATCH_PROBE="0"), "False False True")
        self.assertEqual(self.ways("-S", PYTHONPATH=both), "False False False")
        self.assertTrue(self.ways("-I", PYTHONPATH=both).startswith("False False"))
        self.assertTrue(self.ways("-E", PYTHONPATH=both).startswith("False False"))
        link = os.path.join(self.folder, "link")
        os.symlink(os.path.abspath(folder), link)
        self.assertEqual(self.ways(PYTHONPATH=os.pathsep.join([folder, link, hidden, standin])), "False True True")
        copies = os.path.join(self.folder, "copies")
        os.mkdir(copies)
        for name in ("warpwatch_probe.py", "sitecustomize/sitecustomize.py"):
            shutil.copy(os.path.join(PROBE, name), copies)
        self.assertTrue(self.ways(PYTHONPATH=os.pathsep.join([copies, standin])).startswith("False True"))
        with open(os.path.join(hidden, "sitecustomize.py"), "a") as file:
            file.write("raise ValueError('broken')\n")
        code, out, err = self.run_program(self.CODE, prelude="", PYTHONPATH=both)
        self.assertEqual((code, out), (0, "False True True\n"))
        self.assertIn("broken", err)  # Python tells of it, with or without this folder

    def test_switched_off(self):
        agent = self.agent()
        code, out, _ = self.run_program(
            "import torch; torch.cuda.init(); print(threads())", WARPWATCH_PROBE="0", PYTHONPATH=self.env()["PYTHONPATH"]
        )
        self.assertEqual((code, out, agent.readers), (0, "1\n", []))

    def test_installed_by_pip_without_a_network_and_switched_on_by_the_variable(self):
        venv = os.path.join(self.folder, "venv")
        subprocess.check_call([sys.executable, "-m", "venv", "--without-pip", venv])
        python = os.path.join(venv, "bin", "python")
        command = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", "-q", "install", "--no-index", "--no-warn-script-location"]
        done = subprocess.run([*command, "--prefix", venv, PROBE], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        if "No module named pip" in done.stdout:
            raise unittest.SkipTest("this Python has no pip")
        self.assertEqual(done.returncode, 0, done.stdout)
        site = sysconfig.get_path("purelib", vars={"base": venv})
        self.assertLessEqual({"warpwatch_probe.py", "warpwatch_probe.pth"}, set(os.listdir(site)))
        expected = {"1": "True", "": "False", "0": "False"}
        for value, loaded in expected.items():
            self.assertEqual(self.ways(python=python, PYTHONPATH="", WARPWATCH_PROBE=value).split()[0], loaded)
        self.assertEqual(self.ways("-I", python=python, WARPWATCH_PROBE="1").split()[0], "True")
        self.assertEqual(self.ways("-S", python=python, PYTHONPATH="", WARPWATCH_PROBE="1").split()[0], "False")
        os.unlink(os.path.join(site, "warpwatch_probe.py"))
        self.assertEqual(self.ways(python=python, PYTHONPATH="", WARPWATCH_PROBE="1").split()[0], "False")


if __name__ == "__main__":
    unittest.main()
