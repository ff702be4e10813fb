"""Delivery settings of a subscription as plain, checked data.

A delivery is a JSON object whose ``transport`` determines its other fields::

    {"transport": "webhook", "url": "https://example.org/hook", "secret": "whsec_…"}
    {"transport": "email", "to": "ann@example.org", "template": {"subject": "{{count}} new"}}
    {"transport": "sms", "to": "+4915112345678"}
    {"transport": "file", "name": "ann.jsonl"}
    {"transport": "log"}

Other packages may add transports: a class with the settings in its attribute ``settings`` (a subclass of
:class:`Delivery`), registered under the entry point group ``tamis.transports``. Settings are checked here, so
that the service that stores subscriptions does not need the code that sends.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any, ClassVar, cast
from urllib.parse import urlsplit

import msgspec

from tamis.contract.template import parse_template
from tamis.contract.webhook import PORTS, check_url, secret_key
from tamis.errors import DeliveryError
from tamis.limits import DEFAULT_LIMITS, Limits

GROUP = "tamis.transports"
MASK = "…"  # replaces a secret where settings are shown

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_PHONE = re.compile(r"\+[1-9][0-9]{6,14}")
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL = re.compile(rf"[A-Za-z0-9.!#$%&'*+/=?^_`{{|}}~-]{{1,64}}@{_LABEL}(?:\.{_LABEL}){{0,20}}")


class CustomTemplates(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A subscription's own templates; for those left out, the built-in ones are used."""

    subject: str | None = None
    text: str | None = None
    html: str | None = None

    def check(self, limits: Limits) -> None:
        """Raise ``DeliveryError`` for a template that cannot be parsed."""
        for name in self.__struct_fields__:
            text = getattr(self, name)
            if text is not None:
                try:
                    parse_template(text, limits)
                except DeliveryError as bad:
                    raise DeliveryError(f"template.{name}: {bad.message}", **bad.details) from None


class Delivery(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag_field="transport",
):
    """Common settings of all transports. A subclass has ``tag="its name"`` and its own fields."""

    template: CustomTemplates | None = None

    secret_fields: ClassVar[tuple[str, ...]] = ()  # never shown

    @property
    def transport(self) -> str:
        """The name of the transport."""
        return str(self.__struct_config__.tag)

    @property
    def receiver(self) -> str:
        """The name under which an owner's deliveries share a circuit breaker and a part of the senders."""
        return self.transport

    def check(self, limits: Limits) -> None:
        """Raise ``DeliveryError`` for unusable values; types are already checked."""


class Webhook(Delivery, frozen=True, kw_only=True, tag="webhook"):
    """A POST of JSON to a URL, signed after Standard Webhooks if there is a secret.

    While a secret is being replaced there may be several: each signs.
    """

    url: str
    secret: str | tuple[str, ...] | None = None

    secret_fields: ClassVar[tuple[str, ...]] = ("secret",)

    @property
    def secrets(self) -> tuple[str, ...]:
        """All secrets that sign."""
        if self.secret is None:
            return ()
        return (self.secret,) if isinstance(self.secret, str) else self.secret

    @property
    def receiver(self) -> str:
        """The URL's scheme, host and port."""
        parts = urlsplit(self.url)
        return f"webhook {parts.scheme}://{parts.hostname}:{parts.port or PORTS[parts.scheme]}"

    def check(self, limits: Limits) -> None:
        """Raise ``DeliveryError`` unless the URL can be called and the secrets can sign."""
        check_url(self.url, limits)
        if isinstance(self.secret, tuple) and not 1 <= len(self.secret) <= limits.webhook_secrets:
            raise DeliveryError(
                f"{len(self.secret)} secrets are not 1 to webhook_secrets = {limits.webhook_secrets}",
                limit="webhook_secrets",
            )
        for secret in self.secrets:
            secret_key(secret)


class Email(Delivery, frozen=True, kw_only=True, tag="email"):
    """An e-mail with text and HTML."""

    to: str

    def check(self, limits: Limits) -> None:
        """Raise ``DeliveryError`` unless the recipient is an ASCII address without a name or comment."""
        if not is_email_address(self.to):
            raise DeliveryError(f"to: {self.to[:80]!r} is no e-mail address such as ann@example.org")


class Sms(Delivery, frozen=True, kw_only=True, tag="sms"):
    """An SMS through the service's gateway."""

    to: str

    def check(self, limits: Limits) -> None:
        """Raise ``DeliveryError`` unless the number includes its country."""
        if not _PHONE.fullmatch(self.to):
            raise DeliveryError(f"to: {self.to[:80]!r} is no telephone number such as +4915112345678")


class File(Delivery, frozen=True, kw_only=True, tag="file"):
    """A line of JSON at the end of a file in the service's folder."""

    name: str

    @property
    def receiver(self) -> str:
        """The file."""
        return f"file {self.name}"

    def check(self, limits: Limits) -> None:
        """Raise ``DeliveryError`` unless the name is plain: no folder, not hidden."""
        if not _FILE.fullmatch(self.name):
            raise DeliveryError(
                f"name: {self.name[:80]!r} is no file name of up to 100 letters, digits, dots, dashes and "
                "underscores that begins with a letter or digit"
            )


class Log(Delivery, frozen=True, kw_only=True, tag="log"):
    """A line in the service's log."""


_OURS: dict[str, type[Delivery]] = {
    cast(str, kind.__struct_config__.tag): kind for kind in (Webhook, Email, Sms, File, Log)
}


def parse_delivery(source: Any, limits: Limits = DEFAULT_LIMITS) -> Delivery:
    """Return settings from JSON text or from the object that it describes."""
    delivery = _converted(_decoded(source, limits) if isinstance(source, str | bytes) else source)
    delivery.check(limits)
    if delivery.template is not None:
        delivery.template.check(limits)
    try:
        text = delivery_text(delivery)
    except UnicodeEncodeError:  # in a third-party transport: ours check each of their texts
        raise _no_text() from None
    _check_size(text, limits)
    return delivery


def stored_delivery(text: str) -> Delivery:
    """Return stored settings, which were checked before; raise an error without their transport."""
    return _converted(msgspec.json.decode(text))


def _converted(raw: Any) -> Delivery:
    if not isinstance(raw, Mapping) or type(raw.get("transport")) is not str:
        raise DeliveryError(
            f"a delivery is an object that names its transport: {', '.join(map(repr, transports()))}"
        )
    try:
        return msgspec.convert(dict(raw), settings_of(raw["transport"]))
    except msgspec.ValidationError as bad:
        raise DeliveryError(f"the delivery by {raw['transport']} cannot be used: {bad}") from None
    except UnicodeEncodeError:  # in the name of a field
        raise _no_text() from None


def _no_text() -> DeliveryError:
    return DeliveryError("the delivery holds a lone surrogate, which is no text; remove it")


def delivery_text(delivery: Delivery) -> str:
    """Return the settings as canonical JSON: equal settings have equal texts."""
    return msgspec.json.encode(delivery, order="sorted").decode()


def masked_delivery(delivery: Delivery) -> dict[str, Any]:
    """Return the settings as an object with masked secrets."""
    plain: dict[str, Any] = msgspec.to_builtins(delivery)
    return plain | {name: MASK for name in delivery.secret_fields if plain.get(name) is not None}


def is_email_address(text: str) -> bool:
    """Return whether a text is an e-mail address and nothing else."""
    return len(text) <= 254 and _EMAIL.fullmatch(text) is not None


def transports() -> list[str]:
    """Return the names of all installed transports."""
    return sorted({*_OURS, *(point.name for point in entry_points(group=GROUP))})


@lru_cache
def settings_of(transport: str) -> type[Delivery]:
    """Return the settings class of a transport: a built-in one, or that of the entry point's class."""
    if transport in _OURS:
        return _OURS[transport]
    kind = getattr(transport_class(transport), "settings", None)
    if not (
        isinstance(kind, type) and issubclass(kind, Delivery) and kind.__struct_config__.tag == transport
    ):
        raise DeliveryError(
            f"the transport {transport} has no settings: a subclass of tamis.contract.delivery.Delivery "
            f"with tag={transport!r}"
        )
    return kind


def transport_class(transport: str) -> Any:
    """Return the object that an entry point registers under that name."""
    found = list(entry_points(group=GROUP, name=transport)) if _NAME.fullmatch(transport) else []
    if not found:
        raise DeliveryError(
            f"there is no transport {transport[:40]!r}; there are {', '.join(map(repr, transports()))}"
        )
    try:
        return found[0].load()
    except Exception as bad:  # a third-party module may raise anything on import
        raise DeliveryError(f"the transport {transport} cannot be loaded: {bad}") from bad


def _decoded(text: str | bytes, limits: Limits) -> Any:
    _check_size(text, limits)
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as bad:
        raise DeliveryError(f"the delivery is not JSON: {bad}") from None


def _check_size(text: str | bytes, limits: Limits) -> None:
    size = len(text.encode(errors="replace") if isinstance(text, str) else text)
    if size > limits.delivery_bytes:
        raise DeliveryError(
            f"the delivery has {size} bytes, more than delivery_bytes = {limits.delivery_bytes}",
            limit="delivery_bytes",
        )
