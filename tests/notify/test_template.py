"""Templates render known fields only, for any author and any values."""

from __future__ import annotations

import contextlib
import html
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.contract.delivery import CustomTemplates
from tamis.contract.template import parse_template, render
from tamis.errors import DeliveryError, SendRefused
from tamis.expression.highlight import highlights
from tamis.language import parse
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.notify.message import NotifiedEvent
from tamis.notify.rendering import SUBJECT_CHARACTERS, clean_pieces, render_message, render_short
from tamis.values.event import event_from
from tests.notify.samples import event, message
from tests.waiting import ending

ROOMY = Limits(template_bytes=1 << 21, template_tags=1 << 20)


def said(template: str, **values: Any) -> str | None:
    return render(parse_template(template), values, str, 1_000)


def test_placeholders_and_sections_are_rendered() -> None:
    two = [{"id": "a", "time": ""}, {"id": "b", "time": "noon"}]
    assert said("{{count}} for {{ owner }}", count=2, owner="ann") == "2 for ann"
    assert (
        said("{{#events}}<{{id}}{{#time}} at {{time}}{{/time}}>{{/events}}", events=two) == "<a><b at noon>"
    )
    assert said("{{^events}}none{{/events}}{{#more}}more{{/more}}", events=[], more=0) == "none"
    assert said("{{^events}}none{{/events}}{{#more}}{{more}}{{/more}}", events=two, more=3) == "3"
    assert said("{{from}}|") == "|"
    assert said("a } b }} {x}") == "a } b }} {x}"


def test_tag_alone_on_its_line_leaves_no_line() -> None:
    template = "Now:\n  {{#events}}\n- {{id}}\n{{/events}}\nend"
    assert said(template, events=[{"id": "a"}, {"id": "b"}]) == "Now:\n- a\n- b\nend"


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{price}}", "knows no 'price' there; it knows id, kind"),
        ("{{attributes.price}}", "stand inside {{#events}}"),
        ("{{#events}}{{name}}{{/events}}", "knows no 'name'"),
        ("{{#events}}{{attributes.}}{{/events}}", "knows no 'attributes.'"),
        ("{{#attributes}}{{/attributes}}", "stands inside"),
        ("{{#highlights}}{{/highlights}}", "'highlights' stands inside {{#events}}"),
        ("{{#events}}{{marked}}{{/events}}", "knows no 'marked'"),
        ("{{#events}}", "never closed; write {{/events}}"),
        ("{{/events}}", "not open there"),
        ("{{#events}}{{#more}}{{/events}}{{/more}}", "not open there"),
        ("{{#events}}{{#events}}{{/events}}{{/events}}", "cannot stand in itself"),
        ("{{#events}}{{#attributes}}{{#more}}{{#to}}{{/to}}{{/more}}{{/attributes}}{{/events}}", "3 deep"),
        ("{{", "cannot be read"),
        ("{{id}", "cannot be read"),
        ("{{{id}}}", "cannot be read"),
        ("{{}}", "knows no ''"),
        ("{{> other}}", "knows no '> other'"),
        ("{{__class__}}", "knows no '__class__'"),
    ],
)
def test_invalid_template_is_refused(template: str, reason: str) -> None:
    with pytest.raises(DeliveryError) as refused:
        parse_template(template)
    assert reason in refused.value.message


def test_tag_limit_holds_at_its_edge() -> None:
    for number in (2, 3):
        parse_template("{{id}}" * number, Limits(template_tags=3))
    with pytest.raises(DeliveryError, match="has 4 tags, more than template_tags = 3"):
        parse_template("{{id}}" * 4, Limits(template_tags=3))


@given(st.text(alphabet="{}#^/ aeidnstv.\n", max_size=300))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        template = parse_template(text)
    except DeliveryError:
        return
    assert render(template, {"events": [{"id": "x"}]}, str, 10_000) is not None


@pytest.mark.parametrize("hostile", ["{{", "{{a", "{{#events}}", " \t", "{{ {{", "}}"])
def test_hostile_template_is_parsed_in_one_pass(hostile: str) -> None:
    """A million characters: work that grew with their square would not come to an end."""
    with ending(), contextlib.suppress(DeliveryError):
        parse_template((hostile * 1_000_000)[:1_000_000] + "{", ROOMY)


# -- rendering ----------------------------------------------------------------------------------------


def test_default_template_is_rendered() -> None:
    words = render_message(message(count=3), None, DEFAULT_LIMITS)
    assert words.subject == "3 new for coats"
    assert "* e1, 2026-11-15 12:00 UTC\n    title: Wool coat\n    price: 550\n" in words.text
    assert "… and 2 more." in words.text
    assert '<th scope="row">price</th><td>550</td>' in words.html
    assert (
        render_short(message(), None, DEFAULT_LIMITS, 160)
        == "coats: 1 new; title Wool coat · price 550 · city Oslo"
    )
    assert render_short(message(), None, DEFAULT_LIMITS, 10) == "coats: 1 …"


def test_custom_template_is_rendered() -> None:
    own = CustomTemplates(
        subject="{{subscription}}!",
        text="{{#events}}{{attributes.title}} {{attributes.nothing}}{{/events}}",
        html="<b>{{#events}}{{attributes.title}}{{/events}}</b>",
    )
    words = render_message(message(event(title="A & <B>")), own, DEFAULT_LIMITS)
    assert words == ("coats!", "A & <B> ", "<b>A &amp; &lt;B&gt;</b>")


def highlighted(expression: str, number: int = 1, **attributes: Any) -> NotifiedEvent:
    found = highlights(parse(expression), event_from(attributes))
    return msgspec.structs.replace(event(number, **attributes), highlights=found)


def test_default_template_marks_the_words() -> None:
    shown = highlighted("title HAS ANY ('coat', '<b')", title="A <b> Wool\n Coat & more", price=5)
    words = render_message(message(shown), None, DEFAULT_LIMITS)
    assert "    title: A <**b**> Wool **Coat** & more\n    price: 5\n" in words.text
    assert "<td>A &lt;<mark>b</mark>&gt; Wool <mark>Coat</mark> &amp; more</td>" in words.html
    assert "<td>5</td>" in words.html
    assert render_short(message(shown), None, DEFAULT_LIMITS, 160).endswith(
        "title A <b> Wool Coat & more · price 5"
    )


def test_custom_template_marks_only_where_it_asks_for_marks() -> None:
    shown = highlighted("title HAS 'coat'", title="Wool <coat>", price=5)
    own = CustomTemplates(
        subject="{{#events}}{{#highlights}}{{marked}}{{/highlights}}{{/events}}",
        text="{{#events}}{{#highlights}}{{name}}={{value}}={{marked}}{{/highlights}}{{attributes.title}}{{/events}}",
        html="{{#events}}{{#attributes}}{{marked}};{{/attributes}}{{^highlights}}none{{/highlights}}{{/events}}",
    )
    assert render_message(message(shown), own, DEFAULT_LIMITS) == (
        "Wool <**coat**>",
        "title=Wool <coat>=Wool <**coat**>Wool <coat>",
        "Wool &lt;<mark>coat</mark>&gt;;5;",
    )
    assert render_message(message(), own, DEFAULT_LIMITS).html.endswith(";none")


def test_marked_value_is_cut_around_its_first_mark() -> None:
    limits = Limits(notification_value_characters=20)
    shown = highlighted("title HAS 'coat'", title="x" * 5_000 + " coat " + "y" * 5_000)
    text = render_message(message(shown), None, limits).text
    assert "    title: …xxxx **coat** yyyyyyyy…\n" in text


def test_attributes_and_values_with_marks_are_shown_before_others() -> None:
    limits = Limits(notification_attributes=2)
    shown = highlighted("c HAS 'coat'", a=1, b=2, c="coat", d=4)
    text = render_message(message(shown), None, limits).text
    assert "    a: 1\n    c: **coat**\n\n" in text
    far = highlighted("t HAS 'coat'", t=[*map(str, range(30)), "a coat", 5, "coat"])
    assert "    t: a **coat**, **coat**\n" in render_message(message(far), None, DEFAULT_LIMITS).text
    near = highlighted("t HAS 'coat'", t=["x", "coat", 5])
    assert "    t: x, **coat**, 5\n" in render_message(message(near), None, DEFAULT_LIMITS).text


@given(st.lists(st.text("ab \n\t\u202e\x00\u200d<", max_size=6), min_size=1, max_size=5))
def test_pieces_are_cleaned_like_their_text(pieces: list[str]) -> None:
    whole = "".join(mark for mark in "".join(pieces) if mark not in "\u202e\x00")
    cleaned = clean_pieces(pieces)
    assert len(cleaned) == len(pieces)
    assert "".join(cleaned).rstrip() == " ".join(whole.split())


@pytest.mark.parametrize(
    "value", ["<script>alert(1)</script>", 'x" onload="y', "a\r\nBcc: all@example.org", "\u202eevil"]
)
def test_marked_values_cannot_inject_markup_or_headers(value: str) -> None:
    shown = highlighted("t RLIKE '(?s).+'", t=value)
    assert shown.highlights
    own = CustomTemplates(subject="{{#events}}{{#highlights}}{{marked}}{{/highlights}}{{/events}}")
    words = render_message(message(shown), own, DEFAULT_LIMITS)
    assert "<script" not in words.html
    assert 'onload="' not in words.html
    assert all(mark not in words.subject + words.text for mark in "\r\u202e")
    assert "\n" not in words.subject


def test_every_kind_of_value_is_rendered() -> None:
    odd = event(
        flag=True,
        off=False,
        ratio=0.1,
        at={"$time": "2026-11-15T08:00:01Z"},
        place={"$point": [9.52, 47.14]},
        span={"$interval": [10, None]},
        many=["a", "b"],
        deep={"er": {"still": 1}},
        nothing=None,
    )
    text = render_message(message(odd), None, DEFAULT_LIMITS).text
    for line in (
        "flag: yes", "off: no", "ratio: 0.1", "at: 2026-11-15 08:00:01 UTC", "place: 47.14000, 9.52000",
        "span: 10 …", "many: a, b", "deep.er.still: 1",
    ):  # fmt: skip
        assert f"    {line}\n" in text
    assert "nothing" not in text


HOSTILE = [
    "<script>alert(1)</script>", "\" onload=\"x", "a\r\nBcc: all@example.org", "a\nb", "\x00\x1b[2J",
    "\u202eevil", "\u2028next", "\x85next", "{{owner}}", "x" * 100_000, "\ue000",
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE)
def test_values_cannot_inject_markup_or_headers(value: str) -> None:
    words = render_message(
        message(event(title=value, **{value[:200]: "x"}), subscription=value, expression=value),
        None,
        DEFAULT_LIMITS,
    )
    assert "<script" not in words.html
    assert 'onload="' not in words.html
    assert len(words.subject) <= SUBJECT_CHARACTERS
    assert all(mark not in words.subject for mark in "\r\n\u2028\u202e\x00")
    assert "\nBcc:" not in words.text.replace("\r", "\n")
    assert all(mark not in words.text + words.html for mark in "\x00\x1b\u202e\u2028\x85")


def test_unreadable_event_is_rendered_by_its_id() -> None:
    for text in (None, "nonsense", "[1]", '{"a": 99999999999999999999}', "[" * 100_000):
        told = event()
        words = render_message(message(type(told)(id="odd", text=text)), None, DEFAULT_LIMITS)
        assert "* odd\n" in words.text


def test_attribute_and_value_limits_hold_at_their_edges() -> None:
    limits = Limits(notification_attributes=3, notification_value_characters=10)
    many = event(**{f"a{number}": "v" * size for number, size in enumerate((9, 10, 11, 1))})
    text = render_message(message(many), None, limits).text
    assert "a0: vvvvvvvvv\n" in text
    assert "a1: vvvvvvvvvv\n" in text
    assert "a2: vvvvvvvvv…\n" in text
    assert "a3" not in text


def test_long_text_lists_fewer_events_and_notes_it() -> None:
    many = [event(number, text="x" * 400) for number in range(40)]
    own = CustomTemplates(text="{{#events}}{{attributes.text}}\n{{/events}}{{more}}")
    sizes = {}
    for most in (4 * 401 * 40, 4 * 401 * 40 + 4 * 1, 4 * 401 * 40 + 4 * 2):
        text = render_message(message(*many), own, Limits(notification_bytes=most)).text
        sizes[most] = text.count("\n"), text.rsplit("\n", 1)[1]
    assert list(sizes.values()) == [(20, "20"), (40, "0"), (40, "0")]


def test_template_that_never_fits_is_refused_at_sending() -> None:
    with pytest.raises(SendRefused, match="notification_bytes"):
        render_message(message(), CustomTemplates(text="x" * 1_000), Limits(notification_bytes=3_999))
    render_message(message(), CustomTemplates(text="x" * 100, html="x"), Limits(notification_bytes=4_000))


def test_default_limits_fit_any_template_without_events() -> None:
    limits = DEFAULT_LIMITS
    escaped = max(len(html.escape(mark)) for mark in "<>&\"'x")
    worst = limits.template_bytes + limits.template_tags * limits.notification_value_characters * escaped
    assert worst <= limits.notification_bytes // 4
    own = CustomTemplates(html=("{{expression}}" * limits.template_tags).ljust(limits.template_bytes, "x"))
    told = message(event(k="'" * 600), expression="'" * 10_000)
    assert len(render_message(told, own, limits).html) > 192_000
