"""Webhooks: a POST of JSON, signed as Standard Webhooks say, to an address that may be called."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Iterable
from http import HTTPStatus

from tamis.contract.delivery import Webhook
from tamis.contract.webhook import check_url, secret_key
from tamis.errors import SendFailed, SendRefused
from tamis.notify.http import Answer, Caller
from tamis.notify.message import Message, body_of
from tamis.notify.settings import Settings
from tamis.notify.transports.base import Transport

# The receiver has seen the message and will not have it, or not here: the next attempt would end alike.
_FINAL = {
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.GONE,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.REQUEST_URI_TOO_LONG,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
}


class WebhookTransport(Transport):
    """Calls the subscription's URL."""

    settings = Webhook

    def __init__(self, service: Settings) -> None:
        super().__init__(service)
        self._caller = Caller(service.http, service.limits)

    def check(self, delivery: Webhook) -> None:
        """The port and, where the URL says it, the address must be allowed; a name is looked up only then."""
        self._caller.check(delivery.url)

    def send(self, delivery: Webhook, message: Message) -> None:
        """Delivered is what was answered with 2xx."""
        check_url(delivery.url, self.service.limits)
        body = body_of(message, self.service.limits.notification_bytes)
        headers = {"Content-Type": "application/json", **signed(delivery.secrets, message.id, body)}
        judge(self._caller.post(delivery.url, body, headers))

    def close(self) -> None:
        """Stop looking up names."""
        self._caller.close()


def signed(secrets: Iterable[str], identity: str, body: bytes, at: float | None = None) -> dict[str, str]:
    """Return the headers of Standard Webhooks; each secret signs, so that receivers may change over in
    peace."""
    timestamp = str(int(time.time() if at is None else at))
    content = b".".join((identity.encode(), timestamp.encode(), body))
    marks = [
        "v1," + base64.b64encode(hmac.digest(secret_key(secret), content, hashlib.sha256)).decode()
        for secret in secrets
    ]
    named = {"webhook-id": identity, "webhook-timestamp": timestamp}
    return named | ({"webhook-signature": " ".join(marks)} if marks else {})


def judge(answer: Answer) -> None:
    """Whether an answer means that the receiver has it; raises if not."""
    if 200 <= answer.status < 300:
        return
    if 300 <= answer.status < 400:
        raise SendRefused(
            f"it answered {answer.status}: redirects are not followed; give the URL it leads to",
            status=answer.status,
        )
    if answer.status in _FINAL:
        raise SendRefused(f"it answered {answer.status}", status=answer.status)
    raise SendFailed(f"it answered {answer.status}", answer.retry_after, status=answer.status)
