"""Writes messages to the log, for trials and for programs that read logs."""

from __future__ import annotations

import logging

from tamis.contract.delivery import Log
from tamis.notify.message import Message, body_of
from tamis.notify.transports.base import Transport

LOGGER = "tamis.notifications"
_log = logging.getLogger(LOGGER)


class LogTransport(Transport):
    """A transport that writes lines of JSON to the logger ``tamis.notifications``."""

    settings = Log

    def send(self, delivery: Log, message: Message) -> None:
        """Log a message; it counts as delivered at once."""
        _log.info("%s", body_of(message, self.service.limits.notification_bytes).decode())
