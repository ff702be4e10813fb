"""Operations that change nothing: match and explain a sample event, validate a subscription."""

from __future__ import annotations

from typing import Any

import msgspec

from tamis import language
from tamis.contract.delivery import parse_delivery
from tamis.contract.names import local_name, stored_name
from tamis.contract.schedule import parse_schedule
from tamis.errors import (
    DeliveryError,
    EventError,
    ExpressionError,
    RequestInvalid,
    ScheduleError,
    TamisError,
)
from tamis.expression.highlight import highlights
from tamis.expression.tree import Expr, size_of
from tamis.index.advice import advise
from tamis.index.explain import explain
from tamis.limits import Limits
from tamis.service import bodies, conversion, cursors
from tamis.service.operation import Answer, Call, operation
from tamis.service.schemas.common import OwnerQuery, RequestModel
from tamis.service.schemas.events import Highlights, Match, MatchPage, MatchRequest
from tamis.service.schemas.subscriptions import Draft, Fault, Validation
from tamis.service.service import Service
from tamis.store import registry, subscriptions
from tamis.store.keys import SUBSCRIBE
from tamis.store.subscriptions import StoredSubscription
from tamis.values.event import Event, decode_event, event_from


class _SampleEvent(RequestModel):
    attributes: msgspec.Raw
    weights: dict[str, float] = msgspec.field(default_factory=dict)


class _MatchRequest(MatchRequest):
    event: _SampleEvent  # type: ignore[assignment]  # with undecoded attributes


_decoder = msgspec.json.Decoder(_MatchRequest)


@operation(
    "POST",
    "/v1/match",
    scope=SUBSCRIBE,
    tag="matching",
    query=OwnerQuery,
    body=MatchRequest,
    reads_itself=True,
    answers={200: MatchPage},
    refusals=(404, 422),
)
async def match_event(call: Call) -> Answer:
    """Match a sample event against the owner's subscriptions, without publishing it.

    With ``k``, return the best matches. With ``explain``, return the reasons of each match, with
    ``highlight`` its words. With ``subscription``, explain why that one matches or does not match.
    """
    bodies.media_of(call.request.scope, (bodies.JSON,))
    text = await bodies.read_whole(call.request, call.service.limits)
    return Answer(await call.service.in_thread(_answer, call.service, call.owner, text))


def _answer(service: Service, owner: str, text: bytes) -> MatchPage:
    request = bodies.decoded(text, _decoder, attributes=lambda asked: asked.event.attributes)
    event = _event(request.event, service.limits)
    if request.subscription is not None:
        return MatchPage(matches=[_about(service, owner, request, event)], total=1)
    if request.k is not None:
        return _best(service, owner, request, event)
    return _all(service, owner, request, event)


def _event(sample: _SampleEvent, limits: Limits) -> Event:
    attributes = decode_event(bytes(sample.attributes), limits)
    return event_from(Event(attributes, weights=sample.weights), limits)


def _about(service: Service, owner: str, request: MatchRequest, event: Event) -> Match:
    name = request.subscription or ""
    stored = registry.possible(stored_name(owner, name))
    current = registry.existing(service.store.get(stored), stored)
    tree = _tree(current, service)
    why = explain(tree, event)
    return Match(
        id=name,
        matched=why.matched,
        version=current.version,
        status=current.status,  # type: ignore[arg-type]
        explanation=why.as_dict(),
        highlights=_highlights(tree, event, service.limits) if request.highlight else None,
    )


def _best(service: Service, owner: str, request: MatchRequest, event: Event) -> MatchPage:
    k, most = request.k or 1, _page_items(request, service.limits, service.limits.page_items)
    if k > most:  # there is no next page, so a shorter list would look complete
        raise RequestInvalid(f"k is no more than a page holds, {most}", field="k", limit="page_items")
    found = service.live.top(event, k, owner)
    matches = [Match(id=local_name(stored), matched=True, score=score) for stored, score in found]
    return MatchPage(matches=_with_reasons(service, owner, request, event, matches), total=len(matches))


def _all(service: Service, owner: str, request: MatchRequest, event: Event) -> MatchPage:
    items = _page_items(request, service.limits, service.limits.match_items)
    page = service.live.match_page(event, owner, cursors.decode_name(request.cursor), items)
    matches = [Match(id=local_name(name), matched=True, version=version) for name, version in page.items]
    return MatchPage(
        matches=_with_reasons(service, owner, request, event, matches),
        total=page.total,
        next=cursors.encode(page.items[-1].id if page.is_followed else None),
    )


def _page_items(request: MatchRequest, limits: Limits, most: int) -> int:
    has_reasons = request.explain or request.highlight
    return min(request.limit, most, limits.explained_matches if has_reasons else most)


def _with_reasons(
    service: Service, owner: str, request: MatchRequest, event: Event, matches: list[Match]
) -> list[Match]:
    if request.explain or request.highlight:
        stored = [stored_name(owner, match.id) for match in matches]
        with service.store.database.reading() as connection:
            current = {one.id: one for one in subscriptions.find(connection, stored)}
        for name, match in zip(stored, matches, strict=True):
            if name in current:  # otherwise it was deleted after it was found
                tree = _tree(current[name], service)
                if request.explain:
                    match.explanation = explain(tree, event).as_dict()
                if request.highlight:
                    match.highlights = _highlights(tree, event, service.limits)
    return matches


def _tree(current: StoredSubscription, service: Service) -> Expr:
    return language.read(current.expression, limits=service.limits, analysers=service.store.analysers)


def _highlights(tree: Expr, event: Event, limits: Limits) -> Highlights | None:
    """Return the highlights; ``None`` if the subscription does not match, or no longer."""
    found = highlights(tree, event, limits.highlights)
    return None if found is None else msgspec.convert(found.as_dict(), Highlights)


@operation(
    "POST",
    "/v1/subscriptions/validate",
    scope=SUBSCRIBE,
    tag="subscriptions",
    query=OwnerQuery,
    body=Draft,
    answers={200: Validation},
)
async def validate_subscription(call: Call) -> Answer:
    """Validate a subscription without storing it. The response lists its errors, or its meaning and cost."""
    return Answer(await call.service.in_thread(_validated, call.service, call.body))


def _validated(service: Service, draft: Draft) -> Validation:
    faults: list[Fault] = []
    found = Validation(valid=False, errors=faults, warnings=[])
    try:
        tree = conversion.tree_of(draft, service.limits, service.store.analysers)
        found.text, found.tree, found.cost = language.to_text(tree), language.to_json(tree), size_of(tree)
        found.advice = _advice(service, tree)
        found.explanation = _tried(draft.event, tree, service.limits)
    except ExpressionError as bad:
        faults.append(_fault("expression", bad))
    except EventError as bad:
        faults.append(_fault("event", bad))
    try:
        found.schedule = None if draft.schedule is None else str(parse_schedule(draft.schedule))
    except ScheduleError as bad:
        faults.append(_fault("schedule", bad))
    try:
        (faults if service.delivery_checker.is_strict else found.warnings).extend(
            _undeliverable(draft, service)
        )
    except DeliveryError as bad:
        faults.append(_fault("delivery", bad))
    found.valid = not faults
    return found


def _undeliverable(draft: Draft, service: Service) -> list[Fault]:
    """Return why a delivery cannot be sent; raise ``DeliveryError`` if it is invalid."""
    if draft.delivery is None:
        return []
    fault = service.delivery_checker.fault(parse_delivery(draft.delivery, service.limits))
    return [] if fault is None else [fault]


def _advice(service: Service, tree: Expr) -> dict[str, Any]:
    """Return the advice without the text and the tree, which the response has in fields of their own."""
    advice = msgspec.to_builtins(advise(tree, service.live.index, service.limits))
    return {name: value for name, value in advice.items() if name not in ("text", "tree")}


def _tried(event: dict[str, Any] | None, tree: Expr, limits: Limits) -> dict[str, Any] | None:
    if event is None:
        return None
    decode_event(msgspec.json.encode(event), limits)  # checks the size, as for a published event
    return explain(tree, event_from(event, limits)).as_dict()


def _fault(field: str, bad: TamisError) -> Fault:
    position = bad.position if isinstance(bad, ExpressionError) else None
    return Fault(field=field, code=bad.code, message=bad.message, position=position)


OPERATIONS = (match_event, validate_subscription)
