"""Read IP addresses and CIDR blocks as numbers."""

from __future__ import annotations

import ipaddress
from functools import lru_cache


@lru_cache(maxsize=65_536)
def address_of(text: str) -> tuple[int, int] | None:
    """Return (version, number) of an IP address, ``None`` if ``text`` is not one."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return address.version, int(address)


@lru_cache(maxsize=65_536)
def block_range(block: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the first and last address of a CIDR block, as :func:`address_of` writes them."""
    network = ipaddress.ip_network(block, strict=False)
    return (
        (network.version, int(network.network_address)),
        (network.version, int(network.broadcast_address)),
    )
