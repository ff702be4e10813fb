"""What the notifier may be told: how many senders, how patient, and what each transport needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from email.utils import parseaddr
from pathlib import Path

from tamis.contract.delivery import is_address
from tamis.errors import InputError
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.notify.backoff import Backoff
from tamis.notify.breaker import BreakerRules
from tamis.notify.http import HttpRules

SECURITY = {"none": 25, "starttls": 587, "tls": 465}  # of a mail server, with its usual port


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed in."""

    host: str
    port: int = 0  # 0: the usual one
    security: str = "starttls"
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    sender: str = "tamis@localhost"
    unsubscribe: str | None = None  # a URL or mailto: with {owner} and {subscription}, for List-Unsubscribe
    seconds: float = 20.0  # to wait for each of its answers
    ca_file: str | None = None

    def __post_init__(self) -> None:
        if self.security not in SECURITY:
            raise InputError(f"a mail server's security is {', '.join(SECURITY)}, not {self.security!r}")
        if not self.sender.isprintable() or not is_address(self.sender_address):
            raise InputError(
                f"the sender is an address such as 'Tamis <tamis@example.org>', not {self.sender!r}"
            )
        if not self.port:
            object.__setattr__(self, "port", SECURITY[self.security])

    @property
    def sender_address(self) -> str:
        """The bare address of ``Tamis <tamis@example.org>``."""
        return parseaddr(self.sender)[1]


@dataclass(frozen=True, slots=True)
class SmsGateway:
    """Where short texts are handed in: a POST of JSON in whose strings stand {to}, {text} and {id}."""

    url: str
    body: str = '{"to": "{to}", "text": "{text}"}'
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    characters: int = 480  # of a text; what is longer ends in …


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything about one notifier."""

    workers: int = 16  # that send at the same time
    per_endpoint: int = 4  # of them at one endpoint
    per_owner: int = 12  # of them for one owner
    poll_seconds: float = 1.0  # between looks at the store when nobody wakes us
    lease_seconds: float = 60.0  # a delivery that was claimed is free again after that
    grace_seconds: float = 30.0  # to finish what is being sent when it is to stop
    give_up_seconds: float = 3 * 86_400.0  # nothing older is tried again once an attempt fails
    digests: bool = True  # make digests; not where a Spark query makes them
    digest_events: int = 100  # that a digest lists
    rows: int = 10_000  # of the outbox in one transaction
    backoff: Backoff = field(default_factory=Backoff)
    breaker: BreakerRules = field(default_factory=BreakerRules)
    http: HttpRules = field(default_factory=HttpRules)
    mail: MailServer | None = None
    sms: SmsGateway | None = None
    folder: Path | None = None  # of the transport "file"
    limits: Limits = DEFAULT_LIMITS

    def __post_init__(self) -> None:
        for name in ("workers", "per_endpoint", "per_owner", "digest_events", "rows"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is a number of at least 1, not {getattr(self, name)}")
        if self.lease_seconds < 2 * self.longest_send:
            raise InputError(
                f"a lease of {self.lease_seconds:g} s is too short: a delivery may wait for another, "
                f"and sending takes up to {self.longest_send:g} s"
            )

    @property
    def longest_send(self) -> float:
        """Seconds that one attempt may take: what is left of a lease must be more."""
        mail = self.mail.seconds if self.mail else 0.0
        return max(self.http.total_seconds, mail) + 1.0
