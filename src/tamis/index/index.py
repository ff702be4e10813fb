"""The index: the main object of the library, which holds subscriptions and matches events."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Self
from weakref import WeakKeyDictionary

from tamis.contract.change import Change
from tamis.contract.on_error import OnError, check_on_error
from tamis.engines.engines import engine_class, takes_cnf
from tamis.errors import InputError, TamisError, UnknownSubscription
from tamis.expression.tree import Expr, Subscription
from tamis.head.structures import DEFAULT, unknown_head
from tamis.head.structures import NAMES as HEADS
from tamis.index import arguments, info, storage
from tamis.index.changes import apply_changes
from tamis.index.matching import Matching
from tamis.index.refused_subscriptions import warn_refused
from tamis.index.samples import KeptSample
from tamis.index.scores import Scores
from tamis.index.snapshot import Snapshot
from tamis.index.sources import Progress, id_text, read_book
from tamis.index.writer import Writer
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.segment import Segment
from tamis.segment.sealed import index_key
from tamis.values.analysis import clean_analysers


class Index(Matching):
    """A set of subscriptions that events are matched against.

    Any number of threads may match while one thread changes the set. Every match that begins after a change
    sees it.
    """

    def __init__(
        self, writer: Writer, refused: list[Any] | None = None, notes: dict[str, Any] | None = None
    ) -> None:
        self._writer = writer
        self.notes = notes or {}  # saved with the index
        self.limits = writer.limits
        self.refused: list[tuple[str, Any]] = refused or []
        self._static: WeakKeyDictionary[Segment, Scores] = WeakKeyDictionary()

    @classmethod
    def build(
        cls,
        source: Any = (),
        *,
        engine: str = "hybrid",
        parameters: dict[str, Any] | None = None,
        head: str = DEFAULT,
        analysers: Mapping[str, Any] | None = None,
        sample: Any = None,
        limits: Limits = DEFAULT_LIMITS,
        on_error: OnError = "raise",
        ignore: str | Collection[str] = (),
        progress: Progress | None = None,
    ) -> Self:
        """Index the subscriptions of ``source``.

        ``source`` is a dictionary of id to expression, an iterable of (id, expression) pairs or
        :class:`Subscription` objects, an Arrow table, or a path to .jsonl, .parquet or .csv. Ids are strings.
        Bad subscriptions raise one error that names all of them. With ``on_error="skip"`` they are left out
        and listed in ``refused``; ``"report"`` also gives one :class:`~tamis.errors.RefusedWarning`.
        ``ignore`` names fields or columns to ignore. ``sample`` is a list or table of typical events, which
        improves the choice of access conditions. ``head`` names the structure that new subscriptions go into
        until a merge: "pstree", "bestar" or "opindex". ``analysers`` declares how the texts of attributes
        become terms: ``{"title": "english"}``.
        """
        check_on_error(on_error)
        engine_class(arguments.text("engine", engine))
        if arguments.text("head", head) not in HEADS:
            raise unknown_head(head)
        arguments.bounds(limits)
        arguments.function("progress", progress)
        declared = {} if analysers is None else clean_analysers(analysers)
        book = read_book(source, limits, on_error != "raise", progress, ignore, takes_cnf(engine), declared)
        if on_error == "report":
            warn_refused(book.refused)
        writer = Writer(engine, arguments.mapping("parameters", parameters), limits, sample, head, declared)
        writer.load(book)
        return cls(writer, book.refused)

    # -- the subscriptions --------------------------------------------------------------------------

    def __repr__(self) -> str:
        return info.line(self.info())

    def _repr_html_(self) -> str:
        return info.tables(self.info())

    def __len__(self) -> int:
        return self._writer.current.count

    def __iter__(self) -> Iterator[str]:
        """Yield the ids in order of registration, as they are at this moment; later changes are not seen."""
        return self._writer.current.ids()

    def __contains__(self, subscription: object) -> bool:
        return self._writer.current.find(id_text(subscription)) is not None

    def subscription(self, subscription: str) -> Subscription:
        """Return the subscription with this id."""
        snapshot = self._writer.current
        return snapshot.get(_place(snapshot, subscription))

    def versions(self, subscriptions: Iterable[str]) -> list[int]:
        """Return the versions of subscriptions in the index; 0 for one that was added without a version."""
        snapshot = self._writer.current
        names = arguments.several("subscriptions", subscriptions)
        return [snapshot.version(_place(snapshot, name)) for name in names]

    def expression(self, subscription: str) -> Expr:
        """Return the expression of a subscription."""
        return self.subscription(subscription).expression

    def add(
        self,
        subscription: Any,
        expression: Any = None,
        *,
        priority: float = 0.0,
        ignore: str | Collection[str] = (),
    ) -> None:
        """Add one subscription (id, expression), or all subscriptions of a source that :meth:`build` takes.

        The subscriptions of a source, and a :class:`Subscription`, carry their own priorities.
        """
        if expression is not None:
            self._writer.add_one((subscription, expression, priority))
            return
        if priority != 0.0:
            raise InputError("priority goes with an id and an expression; those of a source have their own")
        if isinstance(subscription, Subscription):
            self._writer.add_one(subscription)
        else:
            book = read_book(
                subscription, self.limits, skip_bad=False, ignore=ignore, analysers=self._writer.analysers
            )
            self._writer.add_book(book)

    def update(self, subscription: str, expression: Any, *, priority: float | None = None) -> None:
        """Replace the expression of a subscription in one step; the priority stays unless one is passed."""
        if priority is None:
            snapshot = self._writer.current
            priority = snapshot.priority(_place(snapshot, subscription))
        self._writer.update((subscription, expression, priority))

    def remove(self, subscription: str) -> None:
        """Remove a subscription; no match that begins later sees it."""
        self._writer.remove(id_text(subscription))

    def apply(self, changes: Iterable[Change]) -> list[tuple[str, TamisError]]:
        """Apply the changes of a store's log in one step; return the refused subscriptions."""
        return apply_changes(self._writer, changes)

    def merge_in_background(self) -> None:
        """Run large merges in a thread of their own from now on, so that changes do not wait for them."""
        self._writer.in_background = True

    def merge(self) -> None:
        """Merge all subscriptions into one segment; matches stay the same and get faster."""
        self._writer.merge_all()

    # -- keeping it -----------------------------------------------------------------------------------

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        notes: dict[str, Any] | None = None,
        key: str | bytes | None = None,
    ) -> None:
        """Write the index to a folder; an index saved there before is replaced atomically.

        ``notes``, plain JSON, are saved with the index. :meth:`open` gives them back in ``notes``. With a
        ``key``, or one in ``TAMIS_INDEX_KEY``, the index is signed.
        """
        self._writer.save(arguments.path(path), arguments.plain_json("notes", notes), index_key(key))

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        limits: Limits | None = None,
        head: str = DEFAULT,
        verify: bool = False,
        key: str | bytes | None = None,
    ) -> Self:
        """Open a saved index, or all shards of an index that Spark built, by memory-mapping.

        The index keeps the engine parameters and the sample that it was built with, and also its limits
        unless ``limits`` is passed. ``head`` is that of :meth:`build`. ``verify`` reads every byte even if it
        was verified before. With a ``key``, or one in ``TAMIS_INDEX_KEY``, an index that is not signed by it
        is refused.
        """
        if arguments.text("head", head) not in HEADS:
            raise unknown_head(head)
        found = storage.load(arguments.path(path), limits, verify, index_key(key))
        settings = found.manifest.settings
        sample = KeptSample.of_lines(found.sample, found.limits)
        analysers = clean_analysers(settings.analysers)
        writer = Writer(settings.engine, dict(settings.parameters), found.limits, sample, head, analysers)
        writer.restore(found.snapshot, found.places, found.manifest.applied)
        return cls(writer, notes=found.manifest.notes)

    def check(self, *, checksums: bool = True) -> None:
        """Check the invariants of all segments; raise :class:`IndexCorrupt` if one is broken.

        Every byte of a segment that is mapped from a file is compared with its checksum, unless ``checksums``
        is false.
        """
        for layer in self._writer.current.layers:
            layer.segment.check(checksums)

    def info(self) -> dict[str, Any]:
        """Return figures about the index and its segments."""
        return info.figures(self._writer)


def _place(snapshot: Snapshot, subscription: str) -> tuple[int, int]:
    place = snapshot.find(id_text(subscription))
    if place is None:
        raise UnknownSubscription(
            f"no subscription has the id {subscription[:80]!r}", subscription=subscription
        )
    return place
