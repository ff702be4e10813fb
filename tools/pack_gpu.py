"""Pack what ``python -m bench gpu`` needs on a machine with a card and without a package index.

    python tools/pack_gpu.py --python 3.12 build/pack

writes ``one.tar.xz`` (llvmlite) and ``two.tar.xz`` (everything else), wheels unpacked for another Python,
without tests and rarely used parts. On the other machine:

    mkdir site; for part in one two; do tar -xJf $part.tar.xz -C site; done
    PYTHONPATH=site:src:. python3 -m bench gpu

The driver, CUDA's toolkit, cuda-bindings and cuda-core must be there: the images of most clouds have them.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

FIRST = ("llvmlite",)
REST = (
    "numba",
    "numba-cuda",
    "numpy",
    "pyarrow",
    "msgspec",
    "shapely",
    "google-re2",
    "ahocorasick-rs",
    "pystemmer",
    "click",
    "tqdm",
)
PLATFORMS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")
# Files that matching never opens; pyarrow's libraries name each other, so most of them must stay.
LEFT_OUT = (
    "*/tests",
    "numba_cuda/numba/cuda/tests",
    "pyarrow/include",
    "pyarrow/includes",
    "pyarrow/src",
    "pyarrow/*.pyx",
    "pyarrow/*.pxi",
    "pyarrow/*.pxd",
    "pyarrow/*flight*",
    "pyarrow/libarrow_s3*",
    "pyarrow/_s3fs*",
    "pyarrow/_hdfs*",
    "pyarrow/_gcsfs*",
    "pyarrow/_azurefs*",
    "pyarrow/_orc*",
    "pyarrow/_substrait*",
    "pyarrow/_dataset*",
    "pyarrow/_parquet*",
    "pyarrow/_pyarrow_cpp*",
    "pyarrow/libarrow_python.so",
    "pyarrow/libarrow_python.so.*.*",
)
# A library that was patched for its wheel does not survive `strip`; these were not.
STRIPPED = ("llvmlite/binding/*.so", "pyarrow/*.so*", "numba/**/*.so", "numba_cuda/**/*.so")
# The `.pth` file that makes Numba find numba-cuda is read only in folders of packages.
STARTUP = "import pathlib, site\nsite.addsitedir(str(pathlib.Path(__file__).parent))\n"


def main() -> None:
    """Download, unpack, prune and compress the wheels."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default="3.12", help="the version there")
    options = parser.parse_args()
    for name, packages in (("one", FIRST), ("two", REST)):
        site = options.folder / name
        shutil.rmtree(site, ignore_errors=True)
        site.mkdir(parents=True)
        download(packages, options.python, options.folder / "wheels" / name)
        for wheel in (options.folder / "wheels" / name).glob("*.whl"):
            with zipfile.ZipFile(wheel) as packed:
                packed.extractall(site)
        prune(site)
        if name == "two":
            (site / "sitecustomize.py").write_text(STARTUP, encoding="utf-8")
        print(name, compress(site, options.folder / f"{name}.tar.xz"), "bytes")


def download(packages: tuple[str, ...], python: str, folder: Path) -> None:
    """Download the wheels of the versions in constraints.txt."""
    constraints = Path(__file__).resolve().parent.parent / "constraints.txt"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--python-version", python, "-c", str(constraints), "-d", str(folder)]
    for platform in PLATFORMS:
        command += ["--platform", f"{platform}_x86_64"]
    subprocess.run([*command, *packages], check=True)


def prune(site: Path) -> None:
    """Remove what matching never opens, and the symbols of libraries that are not needed to load them."""
    for pattern in LEFT_OUT:
        for path in site.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for pattern in STRIPPED:
        for path in site.glob(pattern):
            subprocess.run(["strip", "--strip-unneeded", str(path)], check=True)


def compress(site: Path, target: Path) -> int:
    """Write the folder as a compressed archive; return its size."""
    packing = f"tar -C {site} -cf - . | xz --x86 --lzma2=preset=9e,dict=256MiB > {target}"
    subprocess.run(["bash", "-o", "pipefail", "-c", packing], check=True)
    return target.stat().st_size


if __name__ == "__main__":
    main()
