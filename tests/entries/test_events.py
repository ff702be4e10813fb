"""The entry table, events: every entry point × every kind of strange event."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tamis import Index
from tests.entries.book import BOOK
from tests.entries.event_entries import EVENT_ENTRIES, Entry, Places
from tests.entries.outcome import check, outcome_of
from tests.entries.strange_events import KINDS, Kind


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    folder = tmp_path_factory.mktemp("entries")
    index = Index.build(BOOK)
    index.save(folder / "book.index")
    return Places(index, folder / "book.index", folder)


CELLS = [
    pytest.param(entry, kind, id=f"{entry.name} × {kind.name}")
    for entry in EVENT_ENTRIES
    for kind in KINDS
    if getattr(kind, entry.form) is not None and kind.name not in entry.leaves_out
]


@pytest.mark.parametrize(("entry", "kind"), CELLS)
def test_event_is_matched_or_refused(places: Places, entry: Entry, kind: Kind) -> None:
    given = getattr(kind, entry.form)
    event = given() if callable(given) else given
    wanted = entry.differs.get(kind.name, kind.expected(entry.form))
    check(outcome_of(lambda: entry.run(places, event)), wanted)


def test_missing_form_gives_a_reason() -> None:
    for kind in KINDS:
        if None in (kind.object, kind.line, kind.table):
            assert kind.why, kind.name


def test_table_without_rows_gives_no_matches(places: Places) -> None:
    for empty in ([], iter([]), pa.table({"x": pa.array([], pa.int64())}), pa.table({})):
        found = places.index.match_many(empty)
        assert (found.num_rows, found.events, found.refused) == (0, 0, [])
