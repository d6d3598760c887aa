"""Builds the wheel of the probe (PEP 517): the module, and the .pth line that must lie beside it in site-packages, which setuptools has no way to say."""
import base64
import hashlib
import os
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = ("warpwatch_probe.py", "warpwatch_probe.pth")
SOURCES = FILES + ("pyproject.toml", "build_wheel.py", "sitecustomize/sitecustomize.py")
WHEEL = "Wheel-Version: 1.0\nGenerator: warpwatch\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
METADATA = """Metadata-Version: 2.1
Name: warpwatch-probe
Version: {version}
Summary: Tells the Warpwatch agent of this host what PyTorch's CUDA allocator holds
License: Apache-2.0
Requires-Python: >=3.8
"""


def _read(name):
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()


def _version():
    line = next(line for line in _read("warpwatch_probe.py").decode().splitlines() if line.startswith("__version__"))
    return line.split('"')[1]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    version = _version()
    info = "warpwatch_probe-%s.dist-info" % version
    contents = [(name, _read(name)) for name in FILES]
    contents += [(info + "/METADATA", METADATA.format(version=version).encode()), (info + "/WHEEL", WHEEL.encode())]
    record = ""
    for name, data in contents:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (name, digest, len(data))
    record += "%s/RECORD,,\n" % info
    file_name = "warpwatch_probe-%s-py3-none-any.whl" % version
    with zipfile.ZipFile(os.path.join(wheel_directory, file_name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in contents + [(info + "/RECORD", record.encode())]:
            entry = zipfile.ZipInfo(name)  # of 1980, so that the same sources give the same bytes
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data)
    return file_name


def build_sdist(sdist_directory, config_settings=None):
    base = "warpwatch_probe-%s" % _version()
    file_name = base + ".tar.gz"
    with tarfile.open(os.path.join(sdist_directory, file_name), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name in SOURCES:
            archive.add(os.path.join(HERE, name), "%s/%s" % (base, name))
        metadata = os.path.join(sdist_directory, "PKG-INFO")
        with open(metadata, "w") as file:
            file.write(METADATA.format(version=_version()))
        archive.add(metadata, base + "/PKG-INFO")
        os.unlink(metadata)
    return file_name
