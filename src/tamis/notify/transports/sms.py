"""Short texts, through a gateway that takes them as JSON."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from tamis.contract.delivery import Sms
from tamis.contract.webhook import check_url
from tamis.errors import DeliveryError, InputError, TransportUnavailable
from tamis.notify.http import Caller
from tamis.notify.message import Message
from tamis.notify.rendering import render_short
from tamis.notify.settings import Settings, SmsGateway
from tamis.notify.transports.base import Transport
from tamis.notify.transports.webhook import judge

_PLACE = re.compile(r"\{(?:to|text|id)\}")


class SmsTransport(Transport):
    """Hands texts to the service's gateway, under the same rules as webhooks."""

    settings = Sms

    def __init__(self, service: Settings) -> None:
        super().__init__(service)
        self._caller = Caller(service.http, service.limits)
        self._form = _form(service) if service.sms else None

    def check(self, delivery: Sms) -> None:
        """Texts need a gateway that may be called."""
        self._caller.check(self._gateway().url)

    def _gateway(self) -> SmsGateway:
        if self.service.sms is None:
            raise TransportUnavailable("the service has no gateway for SMS; give it --sms-url")
        return self.service.sms

    def send(self, delivery: Sms, message: Message) -> None:
        """Delivered is what the gateway took."""
        gateway = self._gateway()
        text = render_short(message, delivery.template, self.service.limits, gateway.characters)
        values = {"{to}": delivery.to, "{text}": text, "{id}": message.id}
        body = msgspec.json.encode(filled(self._form, values))
        headers = {"Content-Type": "application/json", "Idempotency-Key": message.id, **dict(gateway.headers)}
        judge(self._caller.post(gateway.url, body, headers))

    def close(self) -> None:
        """Stop looking up names."""
        self._caller.close()


def filled(form: Any, values: dict[str, str]) -> Any:
    """Return the form with its places filled: values go into finished strings, so none of them can break
    out."""
    if isinstance(form, dict):
        return {name: filled(part, values) for name, part in form.items()}
    if isinstance(form, list):
        return [filled(part, values) for part in form]
    if isinstance(form, str):
        return _PLACE.sub(lambda place: values[place[0]], form)
    return form


def _form(service: Settings) -> Any:
    """Return the gateway's form, which the operator wrote."""
    assert service.sms is not None
    try:
        check_url(service.sms.url, service.limits)
        return msgspec.json.decode(service.sms.body)
    except (msgspec.DecodeError, DeliveryError) as bad:
        raise InputError(f"the gateway for SMS cannot be used: {bad}") from None
