"""Questions that change nothing: what would this match, why, why not; is this expression any good?"""

from __future__ import annotations

from typing import Any

import msgspec

from tamis import lang
from tamis.api import bodies, cursors, drafts
from tamis.api.operation import Answer, Call, operation
from tamis.api.service import Service
from tamis.api.shapes.common import ForOwner, Strict
from tamis.api.shapes.events import Match, MatchPage, Question
from tamis.api.shapes.subscriptions import Draft, Fault, Validation
from tamis.errors import EventError, ExpressionError, RequestInvalid, TamisError
from tamis.limits import Limits
from tamis.matcher.advice import advise
from tamis.matcher.explain import explain
from tamis.model.delivery import parse_delivery
from tamis.model.event import Event, decode_event, event_from
from tamis.model.expr import Expr, size_of
from tamis.model.names import local_name, stored_name
from tamis.model.schedule import parse_schedule
from tamis.store import registry
from tamis.store.book import Held
from tamis.store.keys import SUBSCRIBE


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
    question = bodies.decoded(text, _decoder)
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
    stored = stored_name(owner, name)
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
    k, most = question.k or 1, _page_items(service, question)
    if k > most:  # there are no more pages, so fewer would look like all
        raise RequestInvalid(f"k is no more than a page holds, {most}", field="k", limit="page_items")
    found = service.live.top(event, k, owner)
    matches = [Match(id=local_name(stored), matched=True, score=score) for stored, score in found]
    return MatchPage(matches=_with_reasons(service, owner, question, event, matches), total=len(matches))


def _all(service: Service, owner: str, question: Question, event: Event) -> MatchPage:
    after = cursors.place(question.cursor)
    found = sorted(service.live.match(event, owner))
    rest = [one for one in found if one.id > after]
    page = rest[: _page_items(service, question)]
    matches = [Match(id=local_name(one.id), matched=True, version=one.version) for one in page]
    return MatchPage(
        matches=_with_reasons(service, owner, question, event, matches),
        total=len(found),
        next=cursors.cursor(page[-1].id if len(page) < len(rest) else None),
    )


def _page_items(service: Service, question: Question) -> int:
    limits = service.limits
    most = min(limits.page_items, limits.explained_matches) if question.explain else limits.page_items
    return min(question.limit, most)


def _with_reasons(
    service: Service, owner: str, question: Question, event: Event, matches: list[Match]
) -> list[Match]:
    if question.explain:
        for match in matches:
            held = service.store.get(stored_name(owner, match.id))
            if held is not None:  # else it has ended since it was found
                match.explanation = _explained(held, event, service.limits)
    return matches


def _explained(held: Held, event: Event, limits: Limits) -> dict[str, Any]:
    return explain(lang.read(held.expression, limits=limits), event).as_dict()


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
    found = Validation(valid=False, errors=faults)
    try:
        tree = drafts.tree_of(draft, service.limits)
        found.text, found.tree, found.cost = lang.to_text(tree), lang.to_json(tree), size_of(tree)
        found.advice = _advice(service, tree)
        found.explanation = _tried(draft.event, tree, service.limits)
    except ExpressionError as bad:
        faults.append(_fault("expression", bad))
    except EventError as bad:
        faults.append(_fault("event", bad))
    for field, check in (("schedule", parse_schedule), ("delivery", parse_delivery)):
        given = getattr(draft, field)
        try:
            if given is not None:
                read = check(given)
                found.schedule = str(read) if field == "schedule" else found.schedule
        except TamisError as bad:
            faults.append(_fault(field, bad))
    found.valid = not faults
    return found


def _advice(service: Service, tree: Expr) -> dict[str, Any]:
    """What there is to say beyond the text and the tree, which stand beside it."""
    advice = msgspec.to_builtins(advise(tree, service.live.index, service.limits))
    return {name: value for name, value in advice.items() if name not in ("text", "tree")}


def _tried(event: dict[str, Any] | None, tree: Expr, limits: Limits) -> dict[str, Any] | None:
    return None if event is None else explain(tree, event_from(event, limits)).as_dict()


def _fault(field: str, bad: TamisError) -> Fault:
    position = bad.position if isinstance(bad, ExpressionError) else None
    return Fault(field=field, code=bad.code, message=bad.message, position=position)


OPERATIONS = (match_event, validate_subscription)
