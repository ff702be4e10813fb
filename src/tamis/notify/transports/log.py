"""The log as a receiver: for trying things out, and for programs that read logs."""

from __future__ import annotations

import logging

from tamis.contract.delivery import Log
from tamis.notify.message import Message, body_of
from tamis.notify.transports.base import Transport

LOGGER = "tamis.notifications"
_log = logging.getLogger(LOGGER)


class LogTransport(Transport):
    """A line of JSON in the logger ``tamis.notifications``."""

    settings = Log

    def send(self, delivery: Log, message: Message) -> None:
        """Written is delivered."""
        _log.info("%s", body_of(message, self.service.limits.notification_bytes).decode())
