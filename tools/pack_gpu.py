"""Pack what ``python -m bench gpu`` needs on a machine with a card and without a package index.

    python tools/pack_gpu.py build/gpu --python 3.12 --there llvmlite,numba,numba-cuda,numpy,pyarrow,click

writes ``site.tar.xz``: wheels unpacked for the Python of that machine, without tests and rarely used parts,
and ``checkout.tar.xz``: the sources. ``--there`` names packages that the machine has already. Without it both
take 65 MiB, 36 of them llvmlite. On the other machine, ``sh run.sh`` beside the two files unpacks them, and
runs ``bench gpu`` with the arguments that follow.

The driver, CUDA's toolkit, cuda-bindings and cuda-core must be there: images for cards have them.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "llvmlite",
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


RUN = """set -e
cd "$(dirname "$0")"
place=${TMPDIR:-/tmp}/tamis-gpu
mkdir -p "$place"
unpack='import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])'
for part in site checkout; do
  python3 -c "$unpack" $part.tar.xz "$place/$part"
done
cd "$place/checkout"
export PYTHONPATH="$place/site:$PWD/src:$PWD" PYTHONUNBUFFERED=1
exec python3 -m bench gpu "$@"
"""


def main() -> None:
    """Download, unpack, prune and compress the wheels, and pack the sources beside them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default="3.12", help="the version there")
    parser.add_argument("--there", default="", help="packages that need not be packed, comma-separated")
    options = parser.parse_args()
    folder: Path = options.folder
    wanted = tuple(name for name in PACKAGES if name not in options.there.split(","))
    with tempfile.TemporaryDirectory() as place:
        site, wheels = Path(place) / "site", Path(place) / "wheels"
        site.mkdir()
        folder.mkdir(parents=True, exist_ok=True)
        download(wanted, options.python, wheels)
        for wheel in wheels.glob("*.whl"):
            with zipfile.ZipFile(wheel) as packed:
                packed.extractall(site)
        prune(site)
        (site / "sitecustomize.py").write_text(STARTUP, encoding="utf-8")
        compress(site, ["."], folder / "site.tar.xz")
    tracked = subprocess.run(
        ["git", "ls-files", "src", "bench", "pyproject.toml"], cwd=ROOT, capture_output=True, text=True
    )
    compress(ROOT, tracked.stdout.split(), folder / "checkout.tar.xz")
    (folder / "run.sh").write_text(RUN, encoding="utf-8")


def download(packages: tuple[str, ...], python: str, folder: Path) -> None:
    """Download the wheels of the versions in constraints.txt."""
    constraints = ROOT / "constraints.txt"
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


def compress(root: Path, names: list[str], target: Path) -> None:
    """Write files or folders below ``root`` as a compressed archive, and print its size."""
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for name in names:
            archive.add(root / name, name)
    print(target, target.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
