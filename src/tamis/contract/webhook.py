"""Checks the settings of webhooks: the URL to call, and the secrets that sign."""

from __future__ import annotations

import base64
import binascii
import secrets
from urllib.parse import SplitResult, urlsplit

from tamis.errors import DeliveryError
from tamis.limits import DEFAULT_LIMITS, Limits

PORTS = {"http": 80, "https": 443}
SECRET = "whsec_"
SECRET_BYTES = range(24, 65)  # required by Standard Webhooks


def new_secret() -> str:
    """Return a new secret for a webhook."""
    return SECRET + base64.b64encode(secrets.token_bytes(32)).decode()


def secret_key(secret: str) -> bytes:
    """Return the key encoded in a secret."""
    try:
        key = base64.b64decode(secret.removeprefix(SECRET), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(SECRET) or len(key) not in SECRET_BYTES:
        raise DeliveryError(
            f"a webhook's secret is {SECRET} and {SECRET_BYTES[0]} to {SECRET_BYTES[-1]} bytes in base64"
        )
    return key


def check_url(url: str, limits: Limits = DEFAULT_LIMITS) -> SplitResult:
    """Return the parts of an http or https URL; refuse a user, and characters that parsers may misread."""
    if len(url) > limits.webhook_url_bytes:
        raise DeliveryError(
            f"the URL has {len(url)} bytes, more than webhook_url_bytes = {limits.webhook_url_bytes}",
            limit="webhook_url_bytes",
        )
    if not url.isascii() or not url.isprintable() or any(mark in url for mark in ' \\"<>^`{|}'):
        raise DeliveryError(
            f"the URL {url[:80]!r} has characters that a URL cannot have; write the host as xn--… and "
            "others as %XX"
        )
    parts, wrong = _split(url)
    if wrong:
        raise DeliveryError(f"the URL {url[:80]!r} {wrong}")
    return parts


def _split(url: str) -> tuple[SplitResult, str]:
    """Return the parts of a URL, and the fault in them or an empty string."""
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
    except ValueError as bad:
        return urlsplit(""), f"cannot be read: {bad}"
    if parts.scheme not in PORTS:
        return parts, "begins with neither http:// nor https://"
    if "@" in parts.netloc:
        return parts, "carries a user or a password; a webhook is authenticated by its signature"
    if not host or port == 0 or len(host) > 253 or ".." in host or host.startswith(".") or "%" in host:
        return parts, "names no host"
    return parts, "has a fragment, which no server sees" if parts.fragment else ""
