"""Hold every bound of Tamis as data; ``Limits(name=value)`` changes one.

Each field is documented in ``docs/limits.md`` and tested at its edge.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from tamis.errors import InputError


@dataclass(frozen=True, slots=True, repr=False)
class Limits:
    """The bounds in force for one index, parser or decoder."""

    expression_bytes: int = 16 * 1024
    expression_depth: int = 32
    expression_predicates: int = 512
    in_list_values: int = 65_536
    regex_characters: int = 1_000
    near_terms: int = 64  # of a NEAR or a phrase with slop
    wildcard_states: int = 10  # of a wildcard in an EventBridge pattern
    dnf_clauses: int = 256
    polygon_vertices: int = 10_000
    string_bytes: int = 65_536  # of an operand; the strings of an event are bounded by event_bytes
    attribute_name_bytes: int = 256
    subscription_id_bytes: int = 256
    event_id_bytes: int = 1_024  # of an event in Spark and in the store, where its id is part of a key
    event_bytes: int = 256 * 1024
    event_attributes: int = 1_024
    event_values: int = 65_536
    event_depth: int = 32
    matches_per_event: int = 1_000_000
    highlights: int = 1_000  # of one subscription in one event
    head_subscriptions: int = 65_536  # that wait for a segment, removed ones included
    head_bytes: int = 256 * 1024 * 1024  # of their clauses and postings
    import_bytes: int = 64 * 1024 * 1024  # of one file of rules of another system
    request_bytes: int = 1024 * 1024  # the body of a request, unless it is a stream of lines
    request_seconds: int = 30  # for the headers, or the next piece of a body, to arrive
    body_bytes_per_second: int = 1_024  # the least average speed of a body that takes longer than that
    header_bytes: int = 65_536
    connections_at_once: int = 4_096
    requests_at_once: int = 512
    line_bytes: int = 512 * 1024  # of a stream of lines
    lines_bytes: int = 1024 * 1024 * 1024
    page_items: int = 1_000
    match_items: int = 10_000  # of a page of matches, which are short
    explained_matches: int = 100
    idempotency_key_bytes: int = 255
    answer_seconds: int = 86_400  # that the response to a request with an idempotency key is kept
    lag_events: int = 100_000  # that may wait for the matcher before the service reports not ready
    streams_at_once: int = 1_000
    stream_rows: int = 1_000  # that wait for a slow reader of a stream; it then reads from the store
    stream_bytes: int = 8 * 1024 * 1024
    owner_subscriptions: int = 1_000_000  # seven defaults that an administrator can change by owner
    owner_predicates: int = 10_000_000
    owner_requests: int = 1_000  # a second
    owner_events: int = 20_000  # a second
    owner_changes: int = 10_000  # a second, by import
    owner_streams: int = 16
    owner_requests_at_once: int = 128
    profile_attributes: int = 2_048
    profile_values: int = 256  # of each attribute
    profile_terms: int = 262_144
    profile_pairs: int = 65_536
    delivery_bytes: int = 65_536
    webhook_url_bytes: int = 2_048
    webhook_secrets: int = 4
    template_bytes: int = 16 * 1024
    template_tags: int = 64
    notification_bytes: int = 1024 * 1024  # of a message that is sent
    notification_value_characters: int = 500  # of each value in a template
    notification_attributes: int = 12  # that are shown of an event
    answer_bytes: int = 65_536  # that are read of a receiver's response

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not int or value < 1:
                raise InputError(
                    f"limit {field.name} must be a whole number of at least 1, not {value!r}",
                    limit=field.name,
                )

    def __repr__(self) -> str:
        changed = [f for f in fields(self) if getattr(self, f.name) != f.default]
        return f"Limits({', '.join(f'{f.name}={getattr(self, f.name)}' for f in changed)})"


DEFAULT_LIMITS = Limits()
