"""The base class of transports, which send one message or raise the reason why not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from tamis.contract.delivery import Delivery
from tamis.notify.message import Message
from tamis.notify.settings import Settings


class Transport(ABC):
    """A transport, shared by all threads of a notifier.

    ``settings`` is the type of a subscription's delivery settings. :meth:`send` returns when the receiver has
    accepted the message. It raises :class:`~tamis.errors.SendFailed` if a retry may succeed, or
    :class:`~tamis.errors.SendRefused` if no retry will. It must end within ``service.longest_send`` seconds.
    """

    settings: ClassVar[type[Delivery]]

    def __init__(self, service: Settings) -> None:
        self.service = service

    def check(self, delivery: Any) -> None:  # noqa: B027  # most transports need no check
        """Raise the reason why this notifier cannot send ``delivery``, as far as its settings show it.

        The service calls it when a subscription is stored, so it must be fast and must not use the network.
        It raises :class:`~tamis.errors.TransportUnavailable` or another :class:`~tamis.errors.NotifyError`.
        """

    @abstractmethod
    def send(self, delivery: Any, message: Message) -> None:
        """Send ``message`` with the delivery settings ``delivery``, an instance of ``settings``."""

    def close(self) -> None:  # noqa: B027  # most transports hold no connection
        """Close connections; nothing is sent afterwards."""
