"""A stand-in for PyTorch: the surface that the probe touches, with the gates of the releases (STANDIN_VERSION), and a count of who asks what.

What it mimics and from which release stands in the reference on the caching allocator; it holds no memory and no CUDA.
"""
import os
import time

__version__ = os.environ.get("STANDIN_VERSION", "2.6.0+cu124")
release = tuple(int(part) for part in __version__.split(".")[:2])
if os.environ.get("STANDIN_BROKEN") and not os.path.exists(os.environ["STANDIN_BROKEN"]):
    open(os.environ["STANDIN_BROKEN"], "w").close()
    raise ImportError("libcudart.so: cannot open shared object file")
time.sleep(float(os.environ.get("STANDIN_IMPORT_S", "0")))  # what importing the real one takes

from torch import cuda  # noqa: E402
from torch import _C  # noqa: E402,F401

OutOfMemoryError = cuda.OutOfMemoryError
