"""Decides which addresses webhooks may call: public ones, and the networks that the service allows.

A subscriber writes the URL of a webhook. Without this check, the URL could make the service call addresses
that only the service can reach: its own host, its network, the machine's metadata. An address that embeds
another address (mapped, compatible, NAT64, 6to4) is judged by the embedded one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from tamis.errors import AddressForbidden, InputError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_FORBIDDEN_4 = """
0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32
"""  # IANA's special-purpose addresses, and a cloud's public metadata address
_PUBLIC_6 = ip_network("2000::/3")  # nothing else is routed publicly
_FORBIDDEN_6 = "2001::/23 2001:db8::/32 2620:4f:8000::/48 3fff::/20 5f00::/16"  # Teredo is in the first
_EMBEDDING = (
    "::/96",
    "::ffff:0:0/96",
    "::ffff:0:0:0/96",
    "64:ff9b::/96",
)  # with an IPv4 address in the last 32 bits
_6TO4 = ip_network("2002::/16")  # with an IPv4 address in the next 32 bits

_forbidden: tuple[Network, ...] = tuple(map(ip_network, [*_FORBIDDEN_4.split(), *_FORBIDDEN_6.split()]))
_embedding: tuple[Network, ...] = tuple(map(ip_network, _EMBEDDING))


def read_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Return networks such as 10.0.0.0/8 or ::1."""
    try:
        return tuple(ip_network(text.strip()) for text in texts)
    except ValueError as bad:
        raise InputError(f"a network is written such as 10.1.0.0/16 or fd00::/8: {bad}") from None


def check_addresses(host: str, addresses: Sequence[str], allowed: Sequence[Network]) -> list[Address]:
    """Return the addresses of a host, or raise ``AddressForbidden`` if one of them may not be called."""
    found = [ip_address(text.partition("%")[0]) for text in addresses]
    for address in found:
        if not is_allowed(address, allowed):
            # The message does not name the address: a subscriber should not learn how a name resolves in our
            # network.
            raise AddressForbidden(
                f"{host} has an address that is not public; the service must allow its network", host=host
            )
    return found


def check_literal_address(url: str, allowed: Sequence[Network]) -> None:
    """Raise ``AddressForbidden`` for a URL with a forbidden literal address; names are not resolved."""
    host = urlsplit(url).hostname or ""
    meant = "127.0.0.1" if host == "localhost" else host
    try:
        ip_address(meant)
    except ValueError:
        return
    check_addresses(host, [meant], allowed)


def is_allowed(address: Address, allowed: Sequence[Network] = ()) -> bool:
    """Return whether an address is public or in an allowed network."""
    meant = embedded_ipv4(address)
    if any(meant in network for network in allowed):
        return True
    if meant.version == 6 and meant not in _PUBLIC_6:
        return False
    return not any(meant in network for network in _forbidden)


def embedded_ipv4(address: Address) -> Address:
    """Return the embedded IPv4 address if there is one, otherwise the address itself."""
    if isinstance(address, IPv6Address):
        if any(address in network for network in _embedding) and int(address) > 1:  # :: and ::1 embed nothing
            return IPv4Address(int(address) & 0xFFFF_FFFF)
        if address in _6TO4:
            return IPv4Address(int(address) >> 80 & 0xFFFF_FFFF)
    return address
