"""With this folder on PYTHONPATH every Python program that imports torch loads Warpwatch's probe; others do not even load the probe's file.
Then runs the sitecustomize that this one hides, if there is one."""
import atexit
import os
import sys
from _frozen_importlib import module_from_spec
from _frozen_importlib_external import PathFinder, spec_from_file_location

_here = os.path.dirname(os.path.realpath(__file__))


class _Waiting:
    """Loads the probe when torch is about to be imported, and lets it see that import."""

    done = False

    def find_spec(self, name, path=None, target=None):
        if name != "torch" or self.done:
            return None
        self.done = True
        try:
            finder = getattr(_load_probe(), "_finder", None)
        except Exception:
            return None
        return None if finder is None else finder.find_spec(name, path, target)


def _load_probe():
    if "warpwatch_probe" in sys.modules:
        return None
    for folder in (_here, os.path.dirname(_here)):  # copied beside this file, or as in the repository
        path = os.path.join(folder, "warpwatch_probe.py")
        if os.path.isfile(path):
            spec = spec_from_file_location("warpwatch_probe", path)
            sys.modules["warpwatch_probe"] = module = module_from_spec(spec)
            module._exit_function_is_set = True
            spec.loader.exec_module(module)
            return module
    return None


def _run_hidden():
    rest = [entry for entry in sys.path if os.path.realpath(entry or ".") != _here]
    spec = PathFinder.find_spec("sitecustomize", rest)
    if spec is None or spec.loader is None:
        return
    sys.modules["sitecustomize"] = module = module_from_spec(spec)
    spec.loader.exec_module(module)  # what it raises is reported as without this folder


def _at_exit():
    """Set before any of the program's, so called after them: a probe that one of them has loaded would set its own too late to be called."""
    _waiting.done = True
    module = sys.modules.get("warpwatch_probe")
    if getattr(module, "_exit_function_is_set", False):
        module._at_exit()


if os.environ.get("WARPWATCH_PROBE") != "0":
    _waiting = _Waiting()
    sys.meta_path.insert(0, _waiting)
    atexit.register(_at_exit)
_run_hidden()
