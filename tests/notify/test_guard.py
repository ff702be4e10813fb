"""Webhooks cannot reach addresses that only the service can reach."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from tamis.contract.addresses import check_addresses, is_allowed, read_networks
from tamis.errors import AddressForbidden, InputError, SendRefused
from tamis.notify.http import GuardedHttpClient, HttpRules, read_ports

FORBIDDEN = """
127.0.0.1 127.8.9.1 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254
169.254.170.2 100.64.0.1 100.100.100.200 100.127.255.255 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1
198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 168.63.129.16
:: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1 ::127.0.0.1 ::a00:1
64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::7f00:1 64:ff9b:1::808:808 2002:7f00:1:: 2002:a9fe:a9fe::1
2002:c0a8:101::1 2001::1 2001:0:808:808::1 2001:10::1 2001:20::1 2001:db8::1 3fff::1 5f00::1 100::1
fe80::1 febf::1 fec0::1 fc00::1 fd00:ec2::254 fd12:3456::1 ff02::1 ff0e::1 4000::1 e000::1
"""
PUBLIC = """
1.1.1.1 8.8.8.8 11.0.0.1 172.15.255.255 172.32.0.1 100.63.255.255 100.128.0.1 169.253.255.255 193.0.0.1
198.17.255.255 198.20.0.1 223.255.255.255 ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1 2606:4700::1111
2a00:1450:4001:800::200e
"""


@pytest.mark.parametrize("address", FORBIDDEN.split())
def test_private_address_is_forbidden(address: str) -> None:
    assert not is_allowed(ip_address(address))
    with pytest.raises(AddressForbidden, match="not public"):
        check_addresses("example.org", ["8.8.8.8", address], ())


@pytest.mark.parametrize("address", PUBLIC.split())
def test_public_address_is_allowed(address: str) -> None:
    assert is_allowed(ip_address(address))
    assert check_addresses("example.org", [address], ()) == [ip_address(address)]


def test_networks_allowed_by_the_service_are_reachable() -> None:
    allowed = read_networks(["127.0.0.0/8", "::1", " 10.1.0.0/16 "])
    for address in ("127.0.0.1", "::1", "10.1.2.3", "::ffff:127.0.0.1", "64:ff9b::a01:203"):
        assert is_allowed(ip_address(address), allowed)
    for address in ("10.2.0.1", "169.254.169.254", "::ffff:10.2.0.1", "fe80::1"):
        assert not is_allowed(ip_address(address), allowed)
    for text in ("10.0.0.1/8", "home", "", "300.0.0.0/8"):
        with pytest.raises(InputError, match="a network is written"):
            read_networks([text])


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0",
        "[::]",
    ],
)
def test_loopback_is_forbidden_in_every_notation(host: str) -> None:
    caller = GuardedHttpClient(HttpRules())
    with pytest.raises(SendRefused) as refused:
        caller.post(f"http://{host}:8080/", b"", {})
    assert refused.value.code == "address-forbidden"
    caller.close()


@pytest.mark.parametrize(
    "answers", [["10.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["fe80::1%eth0"], ["::ffff:10.0.0.1"]]
)
def test_host_is_resolved_once_and_every_address_is_checked(answers: list[str]) -> None:
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return answers if len(asked) == 1 else ["8.8.8.8"]  # a name that resolves differently the second time

    caller = GuardedHttpClient(HttpRules(), resolve=resolve)
    with pytest.raises(AddressForbidden):
        caller.post("http://rebound.example/", b"", {})
    assert asked == ["rebound.example"]
    caller.close()


def test_only_configured_ports_are_called() -> None:
    assert read_ports("80,443,8000-8999") == (range(80, 81), range(443, 444), range(8_000, 9_000))
    for text in ("", "80,", "a", "80-", "9-8", "1-2-3", "65536", "-80", "8_0", "\u0668\u0660", "\u00b2"):
        with pytest.raises(InputError, match="ports are written"):
            read_ports(text)
    caller = GuardedHttpClient(HttpRules(ports=read_ports("80,8000-8999")))
    for port in (22, 25, 443, 7_999, 9_000):
        with pytest.raises(SendRefused, match=f"port {port} may not be called"):
            caller.post(f"http://example.org:{port}/", b"", {})
    for port in (80, 8_000, 8_999):
        with pytest.raises(AddressForbidden):
            caller.post(f"http://127.0.0.1:{port}/", b"", {})
    with pytest.raises(SendRefused, match="port 443"):
        caller.post("https://example.org/", b"", {})
    caller.close()
