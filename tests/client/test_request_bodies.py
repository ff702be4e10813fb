"""Request bodies keep the meaning of their input, and split responses are reassembled exactly."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.client.failures import refusal
from tamis.client.parsers import LineParser, ServerSentEvent, ServerSentEventParser
from tamis.client.request_bodies import attributes_of, event_body, row_body
from tamis.client.steps import ServiceResponse
from tamis.errors import InputError, TamisError, class_of
from tamis.language import from_json
from tamis.values.event import Event, decode_event, event_from
from tests.docs.test_docs_complete import ERRORS
from tests.strategies import events, expressions, values


@given(events())
def test_event_body_round_trips(event: Event) -> None:
    sent = msgspec.json.encode(attributes_of(event))
    assert event_from(decode_event(sent)).attributes == event_from(event).attributes


def nested() -> st.SearchStrategy[Any]:
    names = st.sampled_from(["a", "b", "c", "ä"])
    inner = st.recursive(
        st.none() | values(),
        lambda below: st.lists(below, max_size=3) | st.dictionaries(names, below, max_size=3),
        max_leaves=8,
    )
    return st.dictionaries(names, inner, max_size=4)


@given(nested())
def test_nested_event_body_round_trips(event: dict[str, Any]) -> None:
    sent = msgspec.json.decode(msgspec.json.encode(event_body(event)))
    assert event_from(sent["attributes"]).attributes == event_from(event).attributes


@given(expressions())
def test_expression_tree_body_round_trips(tree: Any) -> None:
    sent = msgspec.json.decode(msgspec.json.encode(row_body(("s", tree))))
    assert from_json(sent["expression"]) == tree


@pytest.mark.parametrize("row", [17, "s", ("a", "b", "c"), None])
def test_row_is_refused_when_it_is_no_subscription(row: Any) -> None:
    with pytest.raises(InputError):
        row_body(row)


STREAM = """retry: 2000
id: 3

: still here

id: 4
event: match
data: {"ä":1}
data: x

id:5
data:y

id: 6
data: torn"""
SENT = [ServerSentEvent("match", '{"ä":1}\nx'.encode()), ServerSentEvent("message", b"y")]


@given(st.lists(st.integers(0, len(STREAM.encode()))), st.booleans())
def test_server_sent_events_are_parsed_from_any_chunks(cuts: list[int], with_returns: bool) -> None:
    whole = STREAM.replace("\n", "\r\n" if with_returns else "\n").encode()
    places = sorted({0, *cuts, len(whole)})
    read = ServerSentEventParser()
    found = [sent for low, high in pairwise(places) for sent in read.feed(whole[low:high])]
    assert (found, read.last, read.retry) == (SENT, "5", 2.0)


@given(st.lists(st.binary().filter(lambda line: not {10, 13} & set(line)), max_size=5), st.integers(1, 7))
def test_lines_are_parsed_from_any_chunks(lines: list[bytes], size: int) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    read = LineParser()
    assert [line for at in range(0, len(whole), size) for line in read.feed(whole[at : at + size])] == lines
    assert read.is_whole


@given(
    st.text()
    | st.from_regex(r"[A-Z][a-z]{2}, \d+ [A-Z][a-z]{2} \d+ \d+:\d+:\d+ (GMT|[+-]\d+)", fullmatch=True)
)
def test_retry_after_is_never_negative(said: str) -> None:
    answer = ServiceResponse(503, {"retry-after": said}, b"")
    assert refusal(answer).details.get("retry_after", 0.0) >= 0


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_code_becomes_its_class(kind: type[TamisError]) -> None:
    told = {"code": kind.code, "detail": "why", "title": "t", "limit": "x", "self": 1, "message": 2}
    answer = ServiceResponse(400, {"content-type": "application/problem+json"}, msgspec.json.encode(told))
    error = refusal(answer)
    assert type(error) is kind is class_of(kind.code)
    assert error.as_dict() == {"code": kind.code, "message": "why", "limit": "x", "self": 1}
