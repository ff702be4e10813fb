"""Checks whether this service can send a delivery: it warns, or refuses if the policy is strict.

A notifier in the same process checks deliveries itself (:meth:`DeliveryChecker.use`). Without one, the
service knows only its own options. It then checks the networks that webhooks may call, and does not judge
other transports, because a notifier in another process may be able to send them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from tamis.contract.addresses import Network, check_literal_address
from tamis.contract.delivery import Delivery, Webhook, stored_delivery
from tamis.errors import DeliveryError, NotifyError
from tamis.service.schemas.subscriptions import Fault
from tamis.store.subscriptions import Entry, StoredSubscription

FIELD = "delivery"

Policy = Literal["warn", "strict"]
Check = Callable[[Delivery], None]
"""A check that raises the reason why a delivery cannot be sent, as far as it is known beforehand."""


class DeliveryChecker:
    """The check of deliveries, and the policy for those that fail it."""

    def __init__(self, policy: Policy, allowed: Sequence[Network]) -> None:
        self.is_strict = policy == "strict"
        self._allowed = allowed
        self._check: Check = self._check_network

    def use(self, check: Check) -> None:
        """Use this check from now on; the notifier of this process provides it."""
        self._check = check

    def fault(self, delivery: Delivery) -> Fault | None:
        """Return why a delivery cannot be sent, or ``None`` if it can."""
        try:
            self._check(delivery)
        except NotifyError as bad:
            return Fault(field=FIELD, code=bad.code, message=bad.message)
        return None

    def warnings(self, text: str | None) -> list[Fault]:
        """Return the warnings for a stored delivery."""
        if text is None:
            return []
        try:
            fault = self.fault(stored_delivery(text))
        except DeliveryError as bad:  # its transport is no longer installed here
            fault = Fault(field=FIELD, code=bad.code, message=bad.message)
        return [] if fault is None else [fault]

    def admit(self, entry: Entry, current: StoredSubscription | None = None) -> Entry:
        """Return a subscription that may be stored; a strict policy refuses a delivery that cannot be sent.

        An unchanged delivery is always accepted, so that its subscription can still be paused or edited.
        """
        if (
            self.is_strict
            and entry.delivery is not None
            and (current is None or current.delivery != entry.delivery)
        ):
            for fault in self.warnings(entry.delivery):
                raise DeliveryError(f"this service cannot send it: {fault.message}", cause=fault.code)
        return entry

    def _check_network(self, delivery: Delivery) -> None:
        if isinstance(delivery, Webhook):
            check_literal_address(delivery.url, self._allowed)
