"""Wrap the asynchronous client so that one test covers both clients."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tamis
from tamis.client.async_runner import AsyncItems
from tests.trust import TLS

FACES = ("sync", "async")


@contextmanager
def client(face: str, url: str | None, key: str | None = None, **more: Any) -> Iterator[Any]:
    """Yield a client with the interface of :class:`tamis.Client`."""
    more.setdefault("tls", TLS)
    if face == "sync":
        with tamis.Client(url, key, **more) as opened:
            yield opened
        return
    with asyncio.Runner() as runner:
        awaited = tamis.AsyncClient(url, key, **more)
        try:
            yield Awaited(awaited, runner)
        finally:
            runner.run(awaited.aclose())


class Awaited:
    """A wrapper that awaits every result of the asynchronous client."""

    def __init__(self, inner: tamis.AsyncClient, runner: asyncio.Runner) -> None:
        self._inner, self._runner = inner, runner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        found = getattr(self._inner, "aclose" if name == "close" else name)
        return lambda *given, **named: self._outcome(found(*given, **named))

    def __repr__(self) -> str:
        return repr(self._inner)

    def _outcome(self, said: Any) -> Any:
        if isinstance(said, AsyncItems):
            return AwaitedItems(said, self._runner)
        if isinstance(said, tamis.AsyncClient):
            return Awaited(said, self._runner)
        return self._runner.run(said) if inspect.iscoroutine(said) else said


class AwaitedItems(Iterator[Any]):
    """An iterator that awaits one item after the other."""

    def __init__(self, inner: AsyncItems[Any], runner: asyncio.Runner) -> None:
        self._inner, self._runner = inner, runner

    def __next__(self) -> Any:
        try:
            return self._runner.run(self._next())
        except StopAsyncIteration:
            raise StopIteration from None

    async def _next(self) -> Any:
        return await anext(self._inner)

    def __enter__(self) -> AwaitedItems:
        self._runner.run(self._inner.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._runner.run(self._inner.aclose())
