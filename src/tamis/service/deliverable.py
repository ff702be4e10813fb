"""Whether this service can send a delivery: a warning in its answers, or a refusal if the policy is strict.

A notifier in the same process answers for itself (:meth:`Deliverable.use`). Without one the service knows
only its own options, so it looks at the networks that webhooks may call and says nothing of other transports:
a notifier elsewhere may be able to send.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from tamis.contract.addresses import Network, check_written
from tamis.contract.delivery import Delivery, Webhook, stored_delivery
from tamis.errors import DeliveryError, NotifyError
from tamis.service.schemas.subscriptions import Fault
from tamis.store.subscriptions import Entry, Held

FIELD = "delivery"

Policy = Literal["warn", "strict"]
Check = Callable[[Delivery], None]
"""Raises what will keep a delivery from being sent, as far as that is known before."""


class Deliverable:
    """The service's judgement of deliveries."""

    def __init__(self, policy: Policy, allowed: Sequence[Network]) -> None:
        self.is_strict = policy == "strict"
        self._allowed = allowed
        self._check: Check = self._check_network

    def use(self, check: Check) -> None:
        """Ask this from now on: the notifier of this process."""
        self._check = check

    def fault(self, delivery: Delivery) -> Fault | None:
        """Return why a delivery cannot be sent, if that is so."""
        try:
            self._check(delivery)
        except NotifyError as bad:
            return Fault(field=FIELD, code=bad.code, message=bad.message)
        return None

    def warnings(self, text: str | None) -> list[Fault]:
        """Return what is to be said about a stored delivery."""
        if text is None:
            return []
        try:
            fault = self.fault(stored_delivery(text))
        except DeliveryError as bad:  # its transport is not installed here any more
            fault = Fault(field=FIELD, code=bad.code, message=bad.message)
        return [] if fault is None else [fault]

    def admit(self, entry: Entry, held: Held | None = None) -> Entry:
        """Return a subscription that may be stored; a strict policy refuses a delivery that cannot be sent.

        A delivery that stays as it was is admitted: one can still pause the subscription or change its text.
        """
        if (
            self.is_strict
            and entry.delivery is not None
            and (held is None or held.delivery != entry.delivery)
        ):
            for fault in self.warnings(entry.delivery):
                raise DeliveryError(f"this service cannot send it: {fault.message}", cause=fault.code)
        return entry

    def _check_network(self, delivery: Delivery) -> None:
        if isinstance(delivery, Webhook):
            check_written(delivery.url, self._allowed)
