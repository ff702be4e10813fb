"""The head of an index: subscriptions that are too new for a segment.

One writer adds to a head while any number of readers match, without locks. The tables only grow. The
structure that finds clauses exists twice: readers search one copy while the writer extends the other, and a
publication swaps them. A copy is extended only if no reader holds a snapshot of it. The few clauses that are
not in the structure yet are checked one by one. A removal writes its sequence number beside the subscription;
so a reader never sees half a change.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import ref

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.columns import Columns, RowWriter
from tamis.columns.literals import StringColumn, string_column
from tamis.engines.protocol import Candidates
from tamis.expression.tree import And, Expr, Not, Subscription
from tamis.head.attributes import UNSURE, Attributes
from tamis.head.encode import KeyEncoder
from tamis.head.growing import Growing
from tamis.head.leaves.postings import Leaves
from tamis.head.literal_keys import LiteralKeys
from tamis.head.one import OneEventInHead
from tamis.head.placing import Placer
from tamis.head.search import Searcher
from tamis.head.store import ClauseArrays, ClauseStore
from tamis.head.structures import DEFAULT, structure_class
from tamis.limits import Limits
from tamis.normal import clauses_of
from tamis.segment import Particulars
from tamis.segment.one import Quick
from tamis.space.located import Located

ALIVE = np.iinfo(np.int64).max
FEW = 32  # clauses that wait for one insertion
MOST_WAITING = 256  # clauses that wait while a reader holds the other copy of the structure

Ints = npt.NDArray[np.int64]


class Lease:
    """A token that snapshots of one copy of the structure share: it dies with the last of them."""

    __slots__ = ("__weakref__",)


class HeadView(NamedTuple):
    """The head as one snapshot sees it. It has the members of a layer and its segment that matching uses."""

    head: Head
    slots: int  # subscriptions added so far, removed ones included
    removed: int
    clauses: int
    posted: int
    store: ClauseArrays
    owner: Ints
    revise: npt.NDArray[np.uint8]
    arrays: tuple[Any, ...]  # of the structure
    died: Ints
    dimensions: int
    any_revise: bool
    single: bool
    lease: Lease

    @property
    def one_to_one(self) -> bool:
        """Whether each clause has one owner: always."""
        return True

    @property
    def segment(self) -> HeadView:
        """The view itself: a layer has a segment."""
        return self

    @property
    def engine(self) -> HeadView:
        """The view itself: a segment has an engine."""
        return self

    def quick(self, event: dict[str, Any], sequence: int) -> Quick | None:
        """Return the matches of a plain event; ``None`` if the event or the structure needs more care."""
        one = self.head.one
        return one.find(self, sequence, event) if one is not None else None

    @property
    def encoder(self) -> KeyEncoder:
        """The encoder of events."""
        return self.head.encoder

    @property
    def in_force(self) -> int:
        """The number of subscriptions in force in the snapshot that this view belongs to."""
        return self.slots - self.removed

    @property
    def count(self) -> int:  # type: ignore[override]
        """The number of slots."""
        return self.slots

    @property
    def columns(self) -> Columns:
        """All expressions, those of removed subscriptions included."""
        return self.head.rows.freeze()

    @property
    def ids(self) -> StringColumn:
        """The ids of all slots."""
        return string_column(self.head.ids)

    def particulars(self, slots: Ints) -> Particulars:
        """Return the priorities and versions of several subscriptions."""
        priority, version = np.array(self.head.priority, np.float64), np.array(self.head.version, np.int64)
        return Particulars(priority[slots], version[slots])

    def ensure_whole(self) -> None:
        """Do nothing: a head has no file."""

    def alive(self, slots: Ints, sequence: int) -> npt.NDArray[np.bool_]:
        """Return for each slot whether its subscription is in force at ``sequence``."""
        return np.asarray(self.died[slots] > sequence)

    def living(self, sequence: int) -> Ints:
        """Return all slots in force at ``sequence``."""
        return np.flatnonzero(self.died[: self.slots] > sequence)

    def find(self, subscription: str, sequence: int) -> int:
        """Return the slot of a subscription in force, or -1."""
        slot = self.head.slot_of.get(subscription, -1)
        while slot >= self.slots:  # added again, or changed, after this snapshot
            slot = self.head.previous[slot]
        return slot if slot >= 0 and self.died[slot] > sequence else -1

    def get(self, slot: int) -> Subscription:
        """Return the subscription in a slot."""
        head = self.head
        return Subscription(head.ids[slot], self.expression(slot), head.priority[slot], head.version[slot])

    def expression(self, slot: int) -> Expr:
        """Return the expression of the subscription in a slot."""
        return self.head.rows.expression(slot)

    def ids_of(self, slots: Ints) -> list[str]:
        """Return the ids of several subscriptions."""
        ids = self.head.ids
        return [ids[slot] for slot in slots.tolist()]

    def ids_at(self, slots: list[int]) -> list[str]:
        """Return the ids of the subscriptions that one event matches."""
        ids = self.head.ids
        return [ids[slot] for slot in slots]

    def names_of(self, slots: Ints) -> Any:
        """Return the ids of several subscriptions as an Arrow array."""
        return pa.array(self.ids_of(slots), pa.string())

    def versions_of(self, slots: Ints) -> list[int]:
        """Return the versions of several subscriptions."""
        version = self.head.version
        return [version[slot] for slot in slots.tolist()]

    def candidates(self, events: Located) -> Candidates:
        """Return all pairs (event, clause) of a batch."""
        return self.head.searcher.candidates(self, events)

    def unsure(self, events: Located) -> npt.NDArray[np.bool_] | None:
        """Return which events only a tree can decide; ``None`` if there are none."""
        places = np.flatnonzero(events.dimension == UNSURE)
        if not len(places):
            return None
        found = np.zeros(events.count, np.bool_)
        found[np.searchsorted(events.start, places, side="right") - 1] = True
        return found


class Head:
    """The subscriptions added since the last segment was built. One writer at a time calls its methods."""

    def __init__(self, limits: Limits, structure: str = DEFAULT) -> None:
        self.limits = limits
        kind = structure_class(structure)
        self.rows = RowWriter()
        self.attributes = Attributes(self.rows.literals.texts)
        self.encoder = KeyEncoder(self.attributes, limits)
        self.searcher = Searcher(kind)
        self.one = OneEventInHead(self.encoder) if kind is Leaves else None
        self.ids: list[str] = []
        self.priority: list[float] = []
        self.version: list[int] = []
        self.previous: list[int] = []  # per slot, the slot that the same id had before
        self.slot_of: dict[str, int] = {}
        self.removed = 0
        self.is_sealed = False  # whether it takes no more subscriptions
        self._placer = Placer(self.attributes, self.rows.literals)
        self._keys = LiteralKeys(self.rows.literals)
        self._dimension = Growing(np.int64)  # of each attribute in the rows
        self._store = ClauseStore()
        self._died = Growing(np.int64)
        self._dead = Growing(np.int64)  # slots, in the order of their removal
        self._copies = [kind(), kind()]  # the structure that readers search, and the other
        self._single = True  # no subscription has two clauses
        self._lease = Lease()
        self._other_lease: Any = lambda: None

    # -- changing ------------------------------------------------------------------------------------

    def add(self, *subscriptions: Subscription) -> None:
        """Add subscriptions whose ids are not in force here."""
        first, nested = len(self.ids), {}
        for slot, held in enumerate(subscriptions, first):
            if self.rows.add(held.expression):
                nested[slot] = held.expression
            self.ids.append(held.id)
            self.priority.append(held.priority)
            self.version.append(held.version)
            self.previous.append(self.slot_of.get(held.id, -1))
            self.slot_of[held.id] = slot
        died = self._died.take(len(subscriptions))
        self._died.array[died : self._died.used] = ALIVE
        self._place(first, nested)

    def _place(self, first: int, nested: dict[int, Expr]) -> None:
        """Write the clauses of the expressions from slot ``first`` on."""
        for name in self.rows.named[self._dimension.used :]:
            self._dimension.extend([self.attributes.attribute(name).dimension])
        rows, keys, dimension = self.rows.rows_from(first), self._keys.catch_up(), self._dimension.array
        done, count = 0, len(self.rows) - first
        while done < count:
            done = self._store.add_rows(rows, done, first + done, dimension, keys)
            if done < count:
                slot = first + done
                tree = nested[slot] if slot in nested else self.rows.expression(slot)
                self._place_tree(tree, slot, slot in nested)
                done += 1

    def _place_tree(self, expression: Expr, slot: int, is_nested: bool) -> None:
        """Write the clauses of an expression that has more than comparisons."""
        place, store = self._placer.clause, self._store
        if not is_nested:
            parts = expression.children if isinstance(expression, And) else (expression,)
            store.add(place([(part, False) for part in parts], True), slot)
            return
        found = clauses_of(expression, self.limits)
        self._single &= len(found.clauses) < 2
        for clause in found.clauses:
            pairs = [(part.child, True) if isinstance(part, Not) else (part, False) for part in clause]
            store.add(place(pairs, found.exact), slot)

    def remove(self, slots: Any, sequence: int) -> None:
        """End subscriptions: snapshots from ``sequence`` on do not see them."""
        self._died.array[slots] = sequence
        self._dead.extend(slots)
        self.removed += len(slots)

    def view(self) -> HeadView:
        """Return the head as it is now, for the next snapshot."""
        self._post()
        store, active = self._store, self._copies[0]
        return HeadView(
            self,
            len(self.ids),
            self.removed,
            store.count,
            active.count,
            store.arrays(),
            store.owner,
            store.revise,
            active.arrays,
            self._died.array,
            self.attributes.count,
            store.revised,
            self._single,
            self._lease,
        )

    def _post(self) -> None:
        """Let the copy that nobody reads catch up, and let the next readers search it."""
        active, other = self._copies
        waiting, dead = self._store.count - active.count, self._dead.array[: self._dead.used]
        if waiting < FEW and active.waiting(dead) < FEW:
            return
        if self._other_lease() is not None:
            if waiting < MOST_WAITING:
                return
            other = active.copy()  # a reader holds the old one for long, and keeps it
        other.catch_up(self._store, self.attributes.count, dead)
        self._copies = [other, active]
        self._other_lease, self._lease = ref(self._lease), Lease()

    @property
    def nbytes(self) -> int:
        """The memory of the clauses and of both copies of the structure."""
        return self._store.nbytes + sum(copy.nbytes for copy in self._copies)
