"""Sends SMS through a gateway with a JSON interface."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from tamis.contract.delivery import Sms
from tamis.contract.webhook import check_url
from tamis.errors import DeliveryError, InputError, TransportUnavailable
from tamis.notify.http import GuardedHttpClient
from tamis.notify.message import Message
from tamis.notify.rendering import render_short
from tamis.notify.settings import Settings, SmsGateway
from tamis.notify.transports.base import Transport
from tamis.notify.transports.webhook import raise_unless_accepted

_PLACE = re.compile(r"\{(?:to|text|id)\}")


class SmsTransport(Transport):
    """An SMS transport, which calls the service's gateway under the same rules as webhooks."""

    settings = Sms

    def __init__(self, service: Settings) -> None:
        super().__init__(service)
        self._http = GuardedHttpClient(service.http, service.limits)
        self._form = _form(service) if service.sms else None

    def check(self, delivery: Sms) -> None:
        """Raise an error if there is no gateway or it may not be called."""
        self._http.check(self._gateway().url)

    def _gateway(self) -> SmsGateway:
        if self.service.sms is None:
            raise TransportUnavailable("the service has no gateway for SMS; give it --sms-url")
        return self.service.sms

    def send(self, delivery: Sms, message: Message) -> None:
        """Send an SMS; it counts as delivered when the gateway has accepted it."""
        gateway = self._gateway()
        text = render_short(message, delivery.template, self.service.limits, gateway.characters)
        values = {"{to}": delivery.to, "{text}": text, "{id}": message.id}
        body = msgspec.json.encode(filled(self._form, values))
        headers = {"Content-Type": "application/json", "Idempotency-Key": message.id, **dict(gateway.headers)}
        raise_unless_accepted(self._http.post(gateway.url, body, headers))

    def close(self) -> None:
        """Stop name lookups."""
        self._http.close()


def filled(form: Any, values: dict[str, str]) -> Any:
    """Return the form with filled placeholders; values go into decoded strings, so they stay strings."""
    if isinstance(form, dict):
        return {name: filled(part, values) for name, part in form.items()}
    if isinstance(form, list):
        return [filled(part, values) for part in form]
    if isinstance(form, str):
        return _PLACE.sub(lambda place: values[place[0]], form)
    return form


def _form(service: Settings) -> Any:
    """Return the operator's form for the gateway."""
    assert service.sms is not None
    try:
        check_url(service.sms.url, service.limits)
        return msgspec.json.decode(service.sms.body)
    except (msgspec.DecodeError, DeliveryError) as bad:
        raise InputError(f"the gateway for SMS cannot be used: {bad}") from None
