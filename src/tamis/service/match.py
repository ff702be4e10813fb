"""Questions that change nothing: what would this match, why, why not; is this expression any good?"""

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
from tamis.expression.tree import Expr, size_of
from tamis.index.advice import advise
from tamis.index.explain import explain
from tamis.limits import Limits
from tamis.service import bodies, cursors, drafts
from tamis.service.operation import Answer, Call, operation
from tamis.service.schemas.common import ForOwner, Strict
from tamis.service.schemas.events import Match, MatchPage, Question
from tamis.service.schemas.subscriptions import Draft, Fault, Validation
from tamis.service.service import Service
from tamis.store import registry, subscriptions
from tamis.store.keys import SUBSCRIBE
from tamis.store.subscriptions import Held
from tamis.values.event import Event, decode_event, event_from


class _Sample(Strict):
    attributes: msgspec.Raw
    weights: dict[str, float] = msgspec.field(default_factory=dict)


class _Question(Question):
    event: _Sample  # type: ignore[assignment]  # the same, with the attributes as they were written


_decoder = msgspec.json.Decoder(_Question)


@operation(
    "POST",
    "/v1/match",
    scope=SUBSCRIBE,
    tag="matching",
    query=ForOwner,
    body=Question,
    reads_itself=True,
    answers={200: MatchPage},
    refusals=(404, 422),
)
async def match_event(call: Call) -> Answer:
    """What an event matches now, of one's own subscriptions, without publishing it.

    With ``k`` the best; with ``explain`` each with its reasons; with ``subscription`` why that one does or
    does not match.
    """
    bodies.media_of(call.request.scope, (bodies.JSON,))
    text = await bodies.whole(call.request, call.service.limits)
    return Answer(await call.service.in_thread(_answer, call.service, call.owner, text))


def _answer(service: Service, owner: str, text: bytes) -> MatchPage:
    question = bodies.decoded(text, _decoder, attributes=lambda asked: asked.event.attributes)
    event = _event(question.event, service.limits)
    if question.subscription is not None:
        return MatchPage(matches=[_about(service, owner, question.subscription, event)], total=1)
    if question.k is not None:
        return _best(service, owner, question, event)
    return _all(service, owner, question, event)


def _event(sample: _Sample, limits: Limits) -> Event:
    attributes = decode_event(bytes(sample.attributes), limits)
    return event_from(Event(attributes, weights=sample.weights), limits)


def _about(service: Service, owner: str, name: str, event: Event) -> Match:
    stored = registry.possible(stored_name(owner, name))
    held = registry.existing(service.store.get(stored), stored)
    why = _explained(held, event, service.limits)
    return Match(
        id=name,
        matched=why["matched"],
        version=held.version,
        status=held.status,  # type: ignore[arg-type]
        explanation=why,
    )


def _best(service: Service, owner: str, question: Question, event: Event) -> MatchPage:
    k, most = question.k or 1, _page_items(question, service.limits, service.limits.page_items)
    if k > most:  # there are no more pages, so fewer would look like all
        raise RequestInvalid(f"k is no more than a page holds, {most}", field="k", limit="page_items")
    found = service.live.top(event, k, owner)
    matches = [Match(id=local_name(stored), matched=True, score=score) for stored, score in found]
    return MatchPage(matches=_with_reasons(service, owner, question, event, matches), total=len(matches))


def _all(service: Service, owner: str, question: Question, event: Event) -> MatchPage:
    items = _page_items(question, service.limits, service.limits.match_items)
    page = service.live.match_page(event, owner, cursors.place(question.cursor), items)
    matches = [Match(id=local_name(name), matched=True, version=version) for name, version in page.items]
    return MatchPage(
        matches=_with_reasons(service, owner, question, event, matches),
        total=page.total,
        next=cursors.cursor(page.items[-1].id if page.is_followed else None),
    )


def _page_items(question: Question, limits: Limits, most: int) -> int:
    return min(question.limit, most, limits.explained_matches if question.explain else most)


def _with_reasons(
    service: Service, owner: str, question: Question, event: Event, matches: list[Match]
) -> list[Match]:
    if question.explain:
        stored = [stored_name(owner, match.id) for match in matches]
        with service.store.database.reading() as connection:
            held = {one.id: one for one in subscriptions.find(connection, stored)}
        for name, match in zip(stored, matches, strict=True):
            if name in held:  # else it has ended since it was found
                match.explanation = _explained(held[name], event, service.limits)
    return matches


def _explained(held: Held, event: Event, limits: Limits) -> dict[str, Any]:
    return explain(language.read(held.expression, limits=limits), event).as_dict()


@operation(
    "POST",
    "/v1/subscriptions/validate",
    scope=SUBSCRIBE,
    tag="subscriptions",
    query=ForOwner,
    body=Draft,
    answers={200: Validation},
)
async def validate_subscription(call: Call) -> Answer:
    """Look at a subscription without keeping it: what is wrong, or what it means and costs."""
    return Answer(await call.service.in_thread(_validated, call.service, call.body))


def _validated(service: Service, draft: Draft) -> Validation:
    faults: list[Fault] = []
    found = Validation(valid=False, errors=faults, warnings=[])
    try:
        tree = drafts.tree_of(draft, service.limits)
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
        (faults if service.deliverable.is_strict else found.warnings).extend(_undeliverable(draft, service))
    except DeliveryError as bad:
        faults.append(_fault("delivery", bad))
    found.valid = not faults
    return found


def _undeliverable(draft: Draft, service: Service) -> list[Fault]:
    """What keeps a delivery from being sent; one that cannot be used at all is refused."""
    if draft.delivery is None:
        return []
    fault = service.deliverable.fault(parse_delivery(draft.delivery, service.limits))
    return [] if fault is None else [fault]


def _advice(service: Service, tree: Expr) -> dict[str, Any]:
    """What there is to say beyond the text and the tree, which stand beside it."""
    advice = msgspec.to_builtins(advise(tree, service.live.index, service.limits))
    return {name: value for name, value in advice.items() if name not in ("text", "tree")}


def _tried(event: dict[str, Any] | None, tree: Expr, limits: Limits) -> dict[str, Any] | None:
    if event is None:
        return None
    decode_event(msgspec.json.encode(event), limits)  # for its size, as when it is published
    return explain(tree, event_from(event, limits)).as_dict()


def _fault(field: str, bad: TamisError) -> Fault:
    position = bad.position if isinstance(bad, ExpressionError) else None
    return Fault(field=field, code=bad.code, message=bad.message, position=position)


OPERATIONS = (match_event, validate_subscription)
