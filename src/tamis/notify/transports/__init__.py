"""Finds transports by name: the built-in ones, and those from entry points of ``tamis.transports``.

The built-in ones are listed here rather than as entry points, so that a checkout works without installation.
Another package cannot replace them.
"""

from __future__ import annotations

import threading

from tamis.contract.delivery import Delivery, transport_class
from tamis.errors import DeliveryError, NotifyError, SendFailed, TransportUnavailable
from tamis.notify.settings import Settings
from tamis.notify.transports.base import Transport
from tamis.notify.transports.email import EmailTransport
from tamis.notify.transports.file import FileTransport
from tamis.notify.transports.log import LogTransport
from tamis.notify.transports.sms import SmsTransport
from tamis.notify.transports.webhook import WebhookTransport

OURS: dict[str, type[Transport]] = {
    "email": EmailTransport,
    "file": FileTransport,
    "log": LogTransport,
    "sms": SmsTransport,
    "webhook": WebhookTransport,
}


class Transports:
    """One object of each transport; third-party ones are created on first use."""

    def __init__(self, service: Settings) -> None:
        self._service = service
        self._made: dict[str, Transport] = {}
        self._lock = threading.Lock()
        for name in OURS:  # so that unusable settings are reported at the start
            self._made[name] = self._make(name)

    def __getitem__(self, name: str) -> Transport:
        with self._lock:
            if name not in self._made:
                self._made[name] = self._make(name)
            return self._made[name]

    def check(self, delivery: Delivery) -> None:
        """Raise the reason why ``delivery`` cannot be sent, as far as the settings show it."""
        try:
            self[delivery.transport].check(delivery)
        except NotifyError:
            raise
        except Exception as bad:  # a third-party transport may raise anything
            raise SendFailed(f"the transport {delivery.transport} fails: {bad}") from bad

    def close(self) -> None:
        """Close all transports."""
        with self._lock:
            for transport in self._made.values():
                transport.close()
            self._made.clear()

    def _make(self, name: str) -> Transport:
        """Create a transport; a missing one is a temporary failure, since another notifier may have it."""
        try:
            kind = OURS[name] if name in OURS else transport_class(name)
        except DeliveryError as bad:
            raise TransportUnavailable(bad.message) from None
        made = kind(self._service)
        if not isinstance(made, Transport):
            raise SendFailed(f"the transport {name} is no subclass of tamis.notify.transports.base.Transport")
        return made
