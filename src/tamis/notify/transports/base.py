"""What a transport is: a small class that sends one message, or says why not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from tamis.contract.delivery import Delivery
from tamis.notify.message import Message
from tamis.notify.settings import Settings


class Transport(ABC):
    """Sends messages; one object for all of a notifier's threads.

    ``settings`` is what a subscription says about it. :meth:`send` returns when the receiver has it, and
    raises :class:`~tamis.errors.SendFailed` where another attempt may help, or
    :class:`~tamis.errors.SendRefused` where none will. It must come to an end within
    ``service.longest_send`` seconds.
    """

    settings: ClassVar[type[Delivery]]

    def __init__(self, service: Settings) -> None:
        self.service = service

    def check(self, delivery: Any) -> None:  # noqa: B027  # most need nothing of the service
        """Raise what will keep this notifier from sending ``delivery``, as far as its settings say so.

        The service calls it when somebody subscribes, so it asks nobody outside and takes no time. It raises
        :class:`~tamis.errors.TransportUnavailable` or another :class:`~tamis.errors.NotifyError`.
        """

    @abstractmethod
    def send(self, delivery: Any, message: Message) -> None:
        """Send ``message`` as ``delivery``, which is one of ``settings``, says."""

    def close(self) -> None:  # noqa: B027  # most have nothing to let go of
        """Let go of connections; nothing is sent any more."""
