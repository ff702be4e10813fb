"""Buffers of one thread: pinned memory to copy from and to, memory of the card, and the stream of both."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.gpu.cuda import cuda

ALIGNMENT = 64
_LEAST = 1 << 12


class Workspace:
    """A stream, and buffers that grow when they have to."""

    def __init__(self) -> None:
        self.stream = cuda.stream()
        self._device: dict[str, Any] = {}
        self._pinned: dict[str, npt.NDArray[np.uint8]] = {}

    def device(self, name: str, count: int, dtype: Any) -> Any:
        """Return an array on the card; the content of an earlier call is lost."""
        dtype = np.dtype(dtype)
        if not count:
            return cuda.device_array(0, dtype)
        held = self._device.get(name)
        if held is None or len(held) < count * dtype.itemsize:
            self._device.pop(name, None)
            held = self._device[name] = cuda.device_array(_room(count * dtype.itemsize), np.uint8)
        return held[: count * dtype.itemsize].view(dtype)

    def pinned(self, name: str, count: int, dtype: Any) -> npt.NDArray[Any]:
        """Return an array of the host that the card copies from and to without waiting."""
        dtype = np.dtype(dtype)
        held = self._pinned.get(name)
        if held is None or len(held) < count * dtype.itemsize:
            self._pinned.pop(name, None)
            held = self._pinned[name] = cuda.pinned_array(_room(count * dtype.itemsize), np.uint8)
        return held[: count * dtype.itemsize].view(dtype)

    def send(self, name: str, values: npt.NDArray[Any]) -> Any:
        """Return a copy of ``values`` on the card."""
        to = self.device(name, len(values), values.dtype)
        if len(values):
            source = self.pinned(name, len(values), values.dtype)
            np.copyto(source, values)
            to.copy_to_device(source, stream=self.stream)
        return to

    def fetch(self, name: str, values: Any) -> npt.NDArray[Any]:
        """Return the values of an array on the card, in memory that the next call with this name uses again.

        They are complete when the stream has been waited for.
        """
        to = self.pinned(name, len(values), values.dtype)
        if len(values):
            values.copy_to_host(to, stream=self.stream)
        return to

    def wait(self) -> None:
        """Wait until the card has done all that was asked of it."""
        self.stream.synchronize()


class Stage:
    """Arrays of the host that go to the card in one copy."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._parts: list[tuple[int, npt.NDArray[np.uint8]]] = []
        self._size = 0
        self._memory: Any = None

    def add(self, values: npt.NDArray[Any]) -> int:
        """Return the place in bytes where ``values`` will stand."""
        at = self._size
        self._parts.append((at, np.ascontiguousarray(values).reshape(-1).view(np.uint8)))
        self._size = -(-(at + values.nbytes) // ALIGNMENT) * ALIGNMENT
        return at

    def send(self) -> None:
        """Copy all parts to the card."""
        size = max(self._size, ALIGNMENT)
        source = self._workspace.pinned("stage", size, np.uint8)
        for at, part in self._parts:
            np.copyto(source[at : at + len(part)], part)
        self._memory = self._workspace.device("stage", size, np.uint8)
        self._memory.copy_to_device(source, stream=self._workspace.stream)

    def all(self, dtype: Any) -> Any:
        """Return the whole memory as an array of this type."""
        return self._memory.view(np.dtype(dtype))

    def part(self, at: int, count: int, dtype: Any) -> Any:
        """Return the values that stand at a place."""
        dtype = np.dtype(dtype)
        if not count:
            return cuda.device_array(0, dtype)
        return self._memory[at : at + count * dtype.itemsize].view(dtype)


def _room(size: int) -> int:
    """Return a size with room to grow, a multiple of the alignment."""
    return max(_LEAST, -(-(size + size // 4) // ALIGNMENT) * ALIGNMENT)
