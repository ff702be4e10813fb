"""A graphics card: find it, upload segments once, and turn its failures into errors of Tamis."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from tamis.errors import DeviceFailed, DeviceMemory, DeviceMissing, TamisError
from tamis.gpu.cuda import SIMULATED, cuda
from tamis.gpu.segment import DeviceSegment
from tamis.gpu.workspace import Workspace
from tamis.segment import Segment

BLOCKS = 16  # of threads for each multiprocessor
_NO_ROOM = ("out of memory", "out_of_memory", "memory allocation")


class Device:
    """One card. Any number of threads may use it; each has a stream and buffers of its own."""

    def __init__(self, number: int) -> None:
        if not cuda.is_available() or number >= len(cuda.gpus):
            found = len(cuda.gpus) if cuda.is_available() else 0
            raise DeviceMissing(
                f"there is no card {number}: the driver of CUDA reports {found} (nvidia-smi shows them);"
                " install a driver, or pass device='cpu'",
                device=number,
            )
        self.number = number
        self._local = threading.local()
        self._lock = threading.RLock()
        self._segments: WeakKeyDictionary[Segment, DeviceSegment] = WeakKeyDictionary()
        with self.use():
            self.name = _name(number)
            self.blocks = 2 if SIMULATED else BLOCKS * cuda.gpus[number].MULTIPROCESSOR_COUNT
            self.threads = 4 if SIMULATED else 64

    @contextlib.contextmanager
    def use(self) -> Iterator[None]:
        """Make this card the current one of the thread; a failure becomes an error of Tamis."""
        with contextlib.ExitStack() as stack:
            if SIMULATED:  # the simulator runs one kernel at a time
                stack.enter_context(self._lock)
            try:
                stack.enter_context(cuda.gpus[self.number])
                yield
            except TamisError:
                raise
            except Exception as bad:
                if not _is_of_cuda(bad):
                    raise
                if any(words in str(bad).lower() for words in _NO_ROOM):
                    raise DeviceMemory(
                        f"card {self.number} has too little memory: {bad}; match smaller batches, or"
                        " keep the index in several segments",
                        device=self.number,
                    ) from bad
                raise DeviceFailed(
                    f"card {self.number} failed: {bad}; the index still matches with device='cpu'",
                    device=self.number,
                ) from bad

    def workspace(self) -> Workspace:
        """Return the stream and the buffers of this thread."""
        if not hasattr(self._local, "workspace"):
            self._local.workspace = Workspace()
        found: Workspace = self._local.workspace
        return found

    def segment(self, segment: Segment) -> DeviceSegment:
        """Return a segment on the card; the first call uploads it, and makes room if there is too little."""
        with self._lock:
            found = self._segments.get(segment)
            if found is None:
                try:
                    found = self._upload(segment)
                except DeviceMemory:
                    self._segments.clear()
                    found = self._upload(segment)
                self._segments[segment] = found
            return found

    def _upload(self, segment: Segment) -> DeviceSegment:
        with self.use():
            return DeviceSegment(segment, self.blocks, self.threads)

    def memory(self) -> tuple[int, int]:
        """Return the free and the whole memory of the card in bytes; 0 if the simulator stands in for it."""
        if SIMULATED:
            return 0, 0
        with self.use():
            free, total = cuda.current_context().get_memory_info()
        return int(free), int(total)

    def uploaded(self) -> int:
        """Return the bytes of all segments on the card."""
        return sum(segment.nbytes for segment in self._segments.values())


def _is_of_cuda(bad: Exception) -> bool:
    """Return whether an exception comes from CUDA or its Python packages, not from a mistake of ours."""
    module = type(bad).__module__
    return isinstance(bad, MemoryError) or module.startswith(("numba.cuda", "numba_cuda", "cuda"))


def _name(number: int) -> str:
    if SIMULATED:
        return "simulator"
    name = cuda.gpus[number].name
    return name.decode() if isinstance(name, bytes) else str(name)


_opening = threading.Lock()
_opened: dict[int, Device] = {}


def device(number: int) -> Device:
    """Return the card with this number; there is one object for each."""
    with _opening:
        found = _opened.get(number)
        if found is None:
            found = _opened[number] = Device(number)
        return found


def in_use() -> list[dict[str, Any]]:
    """Return the cards of this process, their memory, and the bytes of the segments on them."""
    with _opening:
        cards = list(_opened.values())
    return [
        {
            "device": f"cuda:{card.number}",
            "name": card.name,
            "memory": card.memory()[1],
            "uploaded": card.uploaded(),
        }
        for card in cards
    ]
