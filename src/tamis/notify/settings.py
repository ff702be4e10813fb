"""The settings of the notifier: senders, retries, timeouts, and the needs of each transport."""

from __future__ import annotations

from dataclasses import dataclass, field
from email.utils import parseaddr
from pathlib import Path

from tamis.contract.delivery import is_email_address
from tamis.errors import InputError
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.notify.backoff import Backoff
from tamis.notify.breaker import BreakerRules
from tamis.notify.http import HttpRules

SECURITY = {"none": 25, "starttls": 587, "tls": 465}  # of a mail server, with its usual port


@dataclass(frozen=True, slots=True)
class MailServer:
    """A mail server to send through."""

    host: str
    port: int = 0  # 0: the usual port
    security: str = "starttls"
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    sender: str = "tamis@localhost"
    unsubscribe: str | None = None  # a URL or mailto: with {owner} and {subscription}, for List-Unsubscribe
    seconds: float = 20.0  # timeout of each of its responses
    ca_file: str | None = None

    def __post_init__(self) -> None:
        if self.security not in SECURITY:
            raise InputError(f"a mail server's security is {', '.join(SECURITY)}, not {self.security!r}")
        if not self.sender.isprintable() or not is_email_address(self.sender_address):
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
    """An SMS gateway, called with a JSON body whose strings contain {to}, {text} and {id}."""

    url: str
    body: str = '{"to": "{to}", "text": "{text}"}'
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    characters: int = 480  # of a text; a longer one ends in …


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one notifier."""

    workers: int = 16  # threads that send
    per_endpoint: int = 4  # threads for one endpoint
    per_owner: int = 12  # threads for one owner
    poll_seconds: float = 1.0  # between polls of the store without a wake-up
    lease_seconds: float = 60.0  # a claimed delivery is released after this
    grace_seconds: float = 30.0  # to finish deliveries being sent when the notifier stops
    give_up_seconds: float = 3 * 86_400.0  # no older delivery is retried after a failed attempt
    digests: bool = True  # write digests; off if a Spark query writes them
    digest_events: int = 100  # events that a digest lists
    rows: int = 10_000  # outbox rows in one transaction
    backoff: Backoff = field(default_factory=Backoff)
    breaker: BreakerRules = field(default_factory=BreakerRules)
    http: HttpRules = field(default_factory=HttpRules)
    mail: MailServer | None = None
    sms: SmsGateway | None = None
    folder: Path | None = None  # for the transport "file"
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
        """The longest duration of one attempt in seconds; the rest of a lease must be longer."""
        mail = self.mail.seconds if self.mail else 0.0
        return max(self.http.total_seconds, mail) + 1.0
