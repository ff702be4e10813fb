"""Delivery settings: valid ones are kept word for word, invalid ones are refused by name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tamis.contract.delivery import (
    MASK,
    delivery_text,
    masked_delivery,
    parse_delivery,
    settings_of,
    transports,
)
from tamis.contract.webhook import new_secret, secret_key
from tamis.errors import DeliveryError
from tamis.limits import Limits

SECRET = new_secret()
GOOD: list[dict[str, Any]] = [
    {"transport": "webhook", "url": "https://example.org/hook?a=b"},
    {"transport": "webhook", "url": "http://[2606:4700::1111]:8080", "secret": SECRET},
    {"transport": "webhook", "url": "https://example.org", "secret": [SECRET, new_secret()]},
    {"transport": "email", "to": "ann+tamis@mail.example.org"},
    {"transport": "email", "to": "root@localhost", "template": {"subject": "{{count}} new", "html": "<p>"}},
    {"transport": "sms", "to": "+4915112345678"},
    {"transport": "file", "name": "ann.jsonl"},
    {"transport": "log"},
]


@pytest.mark.parametrize("raw", GOOD, ids=lambda raw: raw["transport"])
def test_settings_round_trip(raw: dict[str, Any]) -> None:
    delivery = parse_delivery(raw)
    text = delivery_text(delivery)
    assert parse_delivery(text) == parse_delivery(text.encode()) == delivery
    assert delivery_text(parse_delivery(dict(reversed(raw.items())))) == text
    assert delivery.transport == raw["transport"]


def bad_webhook(url: Any, **more: Any) -> dict[str, Any]:
    return {"transport": "webhook", "url": url, **more}


BAD: list[tuple[Any, str]] = [
    ("nonsense", "not JSON"),
    ([], "names its transport"),
    ({"to": "a@b"}, "names its transport"),
    ({"transport": 5}, "names its transport"),
    ({"transport": "pigeon"}, "there is no transport 'pigeon'"),
    ({"transport": "../log"}, "there is no transport"),
    ({"transport": "log", "colour": 1}, "unknown field `colour`"),
    ({"transport": "log", "template": {"body": "x"}}, "unknown field `body`"),
    ({"transport": "log", "template": {"text": "{{nothing}}"}}, r"template.text: .*knows no 'nothing'"),
    (
        {"transport": "log", "template": {"text": "a \ud800"}},
        "template.text: .*lone surrogate at character 2",
    ),
    ({"transport": "log", "\ud800": 1}, "lone surrogate"),
    ('{"transport": "log", "template": {"text": "\ud800"}}', "not JSON"),
    ({"transport": "webhook"}, "missing required field `url`"),
    (bad_webhook(5), "Expected `str`, got `int`"),
    (bad_webhook("ftp://example.org/"), "neither http:// nor https://"),
    (bad_webhook("javascript:alert(1)"), "neither http:// nor https://"),
    (bad_webhook("//example.org"), "neither http:// nor https://"),
    (bad_webhook("https://"), "names no host"),
    (bad_webhook("https://.example.org"), "names no host"),
    (bad_webhook("https://example..org"), "names no host"),
    (bad_webhook("http://[fe80::1%25eth0]/"), "names no host"),
    (bad_webhook("http://[::1"), "cannot be read"),
    (bad_webhook("http://example.org:99999/"), "cannot be read"),
    (bad_webhook("http://example.org:0/"), "names no host"),
    (bad_webhook("http://user:word@example.org/"), "carries a user"),
    (bad_webhook("http://example.org@127.0.0.1/"), "carries a user"),
    (bad_webhook("http://example.org\\@127.0.0.1/"), "cannot have"),
    (bad_webhook("http://example.org/\r\nHost: other"), "cannot have"),
    (bad_webhook("http://exa\tmple.org/"), "cannot have"),
    (bad_webhook("http://exämple.org/"), "cannot have"),
    (bad_webhook("http://example.org/ HTTP/1.1"), "cannot have"),
    (bad_webhook("http://example.org/#part"), "fragment"),
    (bad_webhook("http://example.org", secret="hunter2"), "whsec_"),
    (bad_webhook("http://example.org", secret="whsec_c2hvcnQ="), "24 to 64 bytes"),
    (bad_webhook("http://example.org", secret="whsec_" + "A" * 92), "24 to 64 bytes"),
    (bad_webhook("http://example.org", secret=[]), "webhook_secrets"),
    ({"transport": "email", "to": "nobody"}, "no e-mail address"),
    ({"transport": "email", "to": "a@b.example, c@d.example"}, "no e-mail address"),
    ({"transport": "email", "to": "Ann <ann@example.org>"}, "no e-mail address"),
    ({"transport": "email", "to": "ann@example.org\r\nBcc: all@example.org"}, "no e-mail address"),
    ({"transport": "email", "to": "ann@example.org\n"}, "no e-mail address"),
    ({"transport": "email", "to": "änn@example.org"}, "no e-mail address"),
    ({"transport": "email", "to": "a" * 60 + "@" + "b" * 60 + ".org" * 40}, "no e-mail address"),
    ({"transport": "sms", "to": "015112345678"}, "no telephone number"),
    ({"transport": "sms", "to": "+49 151"}, "no telephone number"),
    ({"transport": "sms", "to": "+4915112345678\n"}, "no telephone number"),
    *(
        ({"transport": "file", "name": name}, "no file name")
        for name in ("", "..", ".hidden", "a/b", "/etc/passwd", "a\\b", "a\0b", "a\n", "ä", "-a", "a" * 101)
    ),
]


@pytest.mark.parametrize(("raw", "said"), BAD)
def test_invalid_settings_are_refused_with_the_reason(raw: Any, said: str) -> None:
    with pytest.raises(DeliveryError, match=said):
        parse_delivery(raw)


@pytest.mark.parametrize("limit", ["webhook_url_bytes", "delivery_bytes", "template_bytes"])
def test_size_limits_hold_at_their_edges(limit: str) -> None:
    def sized(size: int) -> dict[str, Any]:
        if limit == "webhook_url_bytes":
            return {"transport": "webhook", "url": "http://example.org/".ljust(size, "x")}
        if limit == "template_bytes":
            return {"transport": "log", "template": {"text": "x" * size}}
        empty = len(delivery_text(parse_delivery({"transport": "log", "template": {"text": ""}})))
        return {"transport": "log", "template": {"text": "x" * (size - empty)}}

    limits = Limits(**{limit: 200})
    for size in (199, 200):
        parse_delivery(sized(size), limits)
    with pytest.raises(DeliveryError, match=f"has 201 bytes, more than {limit} = 200"):
        parse_delivery(sized(201), limits)


def test_secret_count_limit_holds_at_its_edge() -> None:
    for number in (1, 2, 3):
        parse_delivery(bad_webhook("http://example.org", secret=[SECRET] * number), Limits(webhook_secrets=3))
    with pytest.raises(DeliveryError, match="4 secrets are not 1 to webhook_secrets = 3"):
        parse_delivery(bad_webhook("http://example.org", secret=[SECRET] * 4), Limits(webhook_secrets=3))
    assert len(secret_key(SECRET)) == 32


def test_secrets_are_not_shown() -> None:
    for secret in (SECRET, [SECRET, SECRET]):
        shown = masked_delivery(parse_delivery(bad_webhook("http://example.org", secret=secret)))
        assert shown == {"transport": "webhook", "url": "http://example.org", "secret": MASK}
    bare = parse_delivery(bad_webhook("http://example.org"))
    assert masked_delivery(bare) == {"transport": "webhook", "url": "http://example.org"}


@pytest.mark.parametrize(
    ("raw", "receiver"),
    [
        (bad_webhook("https://Example.org/a"), "webhook https://example.org:443"),
        (bad_webhook("http://example.org:8080/b?c"), "webhook http://example.org:8080"),
        ({"transport": "email", "to": "a@b.example"}, "email"),
        ({"transport": "file", "name": "a"}, "file a"),
    ],
)
def test_receiver_name_is_shared_by_deliveries_that_fail_together(raw: dict[str, Any], receiver: str) -> None:
    assert parse_delivery(raw).receiver == receiver


MODULE = """
from tamis.contract.delivery import Delivery
from tamis.notify.transports.base import Transport

class Settings(Delivery, frozen=True, kw_only=True, tag="pigeon"):
    loft: str

class Pigeon(Transport):
    settings = Settings
    def send(self, delivery, message): ...

class Nothing:
    pass
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package that provides transports."""
    (tmp_path / "pigeons.py").write_text(MODULE)
    about = tmp_path / "pigeons-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: pigeons\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[tamis.transports]\npigeon = pigeons:Pigeon\nbroken = pigeons:Missing\nhollow = pigeons:Nothing\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("pigeons", None)
    settings_of.cache_clear()


@pytest.mark.usefixtures("plugin")
def test_transport_of_another_package_is_found() -> None:
    assert {"pigeon", "webhook"} <= set(transports())
    delivery = parse_delivery({"transport": "pigeon", "loft": "Oslo"})
    assert delivery_text(delivery) == '{"loft":"Oslo","transport":"pigeon"}'
    with pytest.raises(DeliveryError, match="missing required field `loft`"):
        parse_delivery({"transport": "pigeon"})
    with pytest.raises(DeliveryError, match="the transport broken cannot be loaded"):
        parse_delivery({"transport": "broken"})
    with pytest.raises(DeliveryError, match="the transport hollow has no settings"):
        parse_delivery({"transport": "hollow"})
