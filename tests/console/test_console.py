"""Test a person's actions on the page, in a real browser."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tamis import parse, to_json
from tests.service.service import Running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WANTED = "model = 'iphone5s' AND price <= 580"


def shoot(page: Page, name: str) -> None:
    """Keep a picture in the folder TAMIS_SCREENSHOTS."""
    if folder := os.environ.get("TAMIS_SCREENSHOTS"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


def save(page: Page, expression: str, name: str) -> None:
    page.fill("#expression", expression)
    page.fill("#id", name)
    page.press("#id", "Enter")  # a click may miss: the verdict appears meanwhile and moves the button
    page.wait_for_selector(f"#saved >> text=Saved as {name}")


def test_wrong_key_is_refused_with_a_reason(browser: Browser, run: Running) -> None:
    page = browser.new_page()
    page.goto(str(run.http.base_url))
    page.fill("#key", "tamis_0000_wrong")
    page.click("#key-form button")
    page.wait_for_selector("#key-problem:not(:empty)")
    assert page.evaluate("() => document.getElementById('sign-in').open")
    page.close()


def test_error_is_underlined_where_it_is(page: Page) -> None:
    page.fill("#expression", "price < 5 AND color ==== 'red'")
    page.wait_for_selector("#verdict .bad")
    assert page.get_attribute("#expression", "aria-invalid") == "true"
    before = page.evaluate("() => document.getElementById('underline').firstChild.textContent")
    assert before == "price < 5 AND color =="
    shoot(page, "underline")
    page.fill("#expression", WANTED)
    page.wait_for_selector("#verdict .good")
    assert page.query_selector("#underline mark") is None
    assert page.get_attribute("#expression", "aria-invalid") is None


def test_sample_event_shows_which_predicate_failed(page: Page) -> None:
    page.fill("#expression", "model = 'iphone5s' AND price <= 500")
    page.wait_for_selector("#predicates li")
    page.wait_for_selector("#event-verdict >> text=does not match")
    lines = [line.inner_text().split("\n") for line in page.query_selector_all("#predicates li")]
    assert [(line[0], line[1]) for line in lines] == [
        ("✓ true", "model = 'iphone5s'"),
        ("✗ false", "price <= 500"),
    ]
    assert "550" in lines[1][2]
    page.fill("#event", '{"model": "iphone5s", "price": 400}')
    page.wait_for_selector("#event-verdict >> text=The event matches.")
    page.fill("#event", "{")
    page.wait_for_selector("#event-verdict >> text=not JSON")


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("json", json.dumps(to_json(parse("price < 5")))),
        ("query-string", "mark=FORD&year_from=2014"),
        ("search-box", "+wool +coat"),
        ("eventbridge", '{"source": ["a"]}'),
        ("lucene", "title:(wool AND coat*) -size:XS"),
    ],
)
def test_every_form_is_read(page: Page, form: str, text: str) -> None:
    page.select_option("#form", form)
    page.fill("#expression", text)
    page.wait_for_selector("#verdict .good")


def test_publish_shows_the_notified_subscriptions(page: Page) -> None:
    save(page, WANTED, "phones")
    page.click("text=Publish it")
    page.wait_for_selector("#published >> text=Accepted as")
    page.wait_for_selector("#matches >> text=phones")
    page.wait_for_selector("#matches >> text=kept here")
    page.click("text=Which of mine match it?")
    page.wait_for_selector("#published >> text=1 match: phones")
    shoot(page, "published")


def test_subscriptions_are_found_paused_resumed_and_deleted(page: Page) -> None:
    for number in range(3):
        save(page, f"price < {number + 1}", f"cheap-{number}")
    page.fill("#filter-text", "price < 2")
    page.keyboard.press("Enter")
    page.wait_for_selector("#subscriptions tr:only-child >> text=cheap-1")
    page.wait_for_selector("#book-caption >> text=1 found")
    page.click("[aria-label='Pause cheap-1']")
    page.wait_for_selector("#subscriptions >> text=paused")
    page.click("[aria-label='Resume cheap-1']")
    page.wait_for_selector("#subscriptions >> text=active")
    page.click("[aria-label='Delete cheap-1']")
    page.wait_for_selector("#subscriptions >> text=No subscription fits the filter")


def test_warning_of_a_delivery_is_shown_when_it_cannot_be_sent(page: Page) -> None:
    page.select_option("#transport", "webhook")
    page.fill("#address", "http://10.1.2.3/hook")
    page.fill("#expression", WANTED)
    page.wait_for_selector("#verdict .warn >> text=not public")
    save(page, WANTED, "warned")
    page.wait_for_selector("#saved .warn >> text=not public")
    page.wait_for_selector("#subscriptions .warn >> text=not public")


def test_words_that_match_are_marked(page: Page) -> None:
    event = {"title": "Red wool Coats & a <b>coat</b> \U0001f9e5 from Oslo", "price": 550}
    page.fill("#event", json.dumps(event))
    save(page, "title HAS 'coat' USING english AND price < 600", "coats")
    save(page, "price < 600", "cheap")
    page.fill("#expression", "title HAS PHRASE 'red wool' AND title NOT HAS 'oslo'")
    page.wait_for_selector("#predicates mark >> text=Oslo")
    assert page.locator("#predicates mark").all_inner_texts() == ["Red", "wool", "Oslo"]
    assert page.locator("#predicates .found").first.get_attribute("title") is not None
    page.click("text=Which of mine match it?")
    page.wait_for_selector("#published >> text=2 match: cheap, coats")
    assert page.locator("#published mark").all_inner_texts() == ["Coats", "coat"]
    assert page.locator("#published .found").all_inner_texts() == [f"title: {event['title']}"]
    assert page.query_selector("#published b") is None
    shoot(page, "words")
    page.emulate_media(color_scheme="dark")
    shoot(page, "words-dark")


def test_foreign_text_is_never_run_as_markup(page: Page) -> None:
    save(page, "title = '<img src=x onerror=alert(1)>'", "sharp")
    page.fill("#event", '{"title": "<img src=x onerror=alert(1)>"}')
    page.click("text=Publish it")
    page.wait_for_selector("#matches >> text=onerror")
    assert page.query_selector("#matches img, #subscriptions img, #verdict img") is None


def test_page_is_usable_by_keyboard_and_has_labels(page: Page) -> None:
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('input, select, textarea, button, svg[role=img]')]
            .filter((node) => !node.labels?.length && !node.textContent.trim() && !node.ariaLabel)
            .map((node) => node.id)"""
    )
    assert unnamed == []
    page.focus("body")
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("() => document.activeElement.id || document.activeElement.tagName"))
    for wanted in ("expression", "form", "schedule", "transport", "event", "match", "filter-text"):
        assert wanted in reached


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_follows_light_and_dark(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in ground[4:-1].split(","))
    assert (brightness > 384) == (scheme == "light")
    shoot(page, scheme)


def test_page_fits_a_small_screen(page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    save(page, "city = 'Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch'", "long")
    wide = page.evaluate("() => document.documentElement.scrollWidth")
    assert wide <= 400
    shoot(page, "small")
