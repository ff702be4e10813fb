"""The ways to tell somebody, found by name: ours, and those that entry points of ``tamis.transports`` add.

Ours stand here rather than among the entry points of our own package, so that a checkout works without
being installed; a name of ours cannot be taken by another.
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
    """One object of each transport; those of others are made when they are first needed."""

    def __init__(self, service: Settings) -> None:
        self._service = service
        self._made: dict[str, Transport] = {}
        self._lock = threading.Lock()
        for name in OURS:  # settings that cannot be used are said at the start
            self._made[name] = self._make(name)

    def __getitem__(self, name: str) -> Transport:
        with self._lock:
            if name not in self._made:
                self._made[name] = self._make(name)
            return self._made[name]

    def check(self, delivery: Delivery) -> None:
        """Raise what will keep ``delivery`` from being sent, as far as the settings say so."""
        try:
            self[delivery.transport].check(delivery)
        except NotifyError:
            raise
        except Exception as bad:  # whatever a stranger's transport does
            raise SendFailed(f"the transport {delivery.transport} fails: {bad}") from bad

    def close(self) -> None:
        """Close all that were made."""
        with self._lock:
            for transport in self._made.values():
                transport.close()
            self._made.clear()

    def _make(self, name: str) -> Transport:
        """Another notifier may have what this one lacks, so a delivery is not lost for it."""
        try:
            kind = OURS[name] if name in OURS else transport_class(name)
        except DeliveryError as bad:
            raise TransportUnavailable(bad.message) from None
        made = kind(self._service)
        if not isinstance(made, Transport):
            raise SendFailed(f"the transport {name} is no subclass of tamis.notify.transports.base.Transport")
        return made
