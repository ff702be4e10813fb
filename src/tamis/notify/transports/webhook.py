"""Sends webhooks: a POST of JSON, signed after Standard Webhooks, to an allowed address."""

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
from tamis.notify.http import GuardedHttpClient, HttpResult
from tamis.notify.message import Message, body_of
from tamis.notify.settings import Settings
from tamis.notify.transports.base import Transport

# The receiver has rejected the message, so a retry would end in the same way.
_FINAL = {
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.GONE,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.REQUEST_URI_TOO_LONG,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
}


class WebhookTransport(Transport):
    """A webhook transport, which calls the subscription's URL."""

    settings = Webhook

    def __init__(self, service: Settings) -> None:
        super().__init__(service)
        self._http = GuardedHttpClient(service.http, service.limits)

    def check(self, delivery: Webhook) -> None:
        """Raise an error if the port or a literal address is not allowed; no name is looked up."""
        self._http.check(delivery.url)

    def send(self, delivery: Webhook, message: Message) -> None:
        """Send a webhook; it counts as delivered after a 2xx response."""
        check_url(delivery.url, self.service.limits)
        body = body_of(message, self.service.limits.notification_bytes)
        headers = {"Content-Type": "application/json", **signed(delivery.secrets, message.id, body)}
        raise_unless_accepted(self._http.post(delivery.url, body, headers))

    def close(self) -> None:
        """Stop name lookups."""
        self._http.close()


def signed(secrets: Iterable[str], identity: str, body: bytes, at: float | None = None) -> dict[str, str]:
    """Return the headers of Standard Webhooks; each secret signs, so that secrets can be rotated."""
    timestamp = str(int(time.time() if at is None else at))
    content = b".".join((identity.encode(), timestamp.encode(), body))
    marks = [
        "v1," + base64.b64encode(hmac.digest(secret_key(secret), content, hashlib.sha256)).decode()
        for secret in secrets
    ]
    named = {"webhook-id": identity, "webhook-timestamp": timestamp}
    return named | ({"webhook-signature": " ".join(marks)} if marks else {})


def raise_unless_accepted(answer: HttpResult) -> None:
    """Raise an error unless the response means that the receiver accepted the message."""
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
