"""The options of the notifier, for ``tamis notify`` and for the notifier inside ``tamis serve``.

Each option can be set in the environment instead (``TAMIS_SMTP`` for ``--smtp``). Passwords are read only
from there, or from a file that a variable such as ``TAMIS_SMTP_PASSWORD_FILE`` names, since other users of a
machine can read the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tamis.cli.config import secret
from tamis.errors import InputError

if TYPE_CHECKING:
    from tamis.limits import Limits
    from tamis.notify.settings import MailServer, Settings, SmsGateway

SMTP_PASSWORD, SMS_HEADER = "TAMIS_SMTP_PASSWORD", "TAMIS_SMS_HEADER"


def _option(name: str, text: str, **more: Any) -> Callable[..., Any]:
    variable = "TAMIS_" + name.removeprefix("--").upper().replace("-", "_")
    return click.option(name, envvar=variable, help=text, **more)


OPTIONS = (
    _option("--workers", "Deliveries sent at the same time.", type=click.IntRange(1, 1_000), default=16,
            show_default=True),
    _option("--folder", "The folder for files.", type=click.Path(path_type=Path, file_okay=False)),
    _option("--smtp", "The mail server.", metavar="HOST[:PORT]"),
    _option("--smtp-security", "Its security.", type=click.Choice(["none", "starttls", "tls"]),
            default="starttls", show_default=True),
    _option("--smtp-user", f"The user name; the password is in {SMTP_PASSWORD}.", metavar="NAME"),
    _option("--smtp-from", "The sender of e-mail.", metavar="ADDRESS", default="tamis@localhost",
            show_default=True),
    _option("--unsubscribe", "For List-Unsubscribe: a URL with {owner} and {subscription}.", metavar="URL"),
    _option("--sms-url", f"The SMS gateway; {SMS_HEADER} holds a header for it.", metavar="URL"),
    _option("--sms-body", "Its request body: JSON with {to}, {text} and {id}.", metavar="JSON"),
    _option("--allow-network", "A private network that may be called; repeatable.",
            metavar="CIDR", multiple=True),
    _option("--ports", "Ports that may be called; the default is 80, 443 and all from 1024.", metavar="LIST"),
    _option("--ca-file", "Certificates to trust instead of the system's.",
            type=click.Path(exists=True, dir_okay=False)),
    _option("--no-digests", "Leave digests to a Spark query.", is_flag=True),
)  # fmt: skip


def notify_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the notifier to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def notify_settings(given: dict[str, Any], limits: Limits) -> Settings:
    """Return the settings that the options describe."""
    from tamis.contract.addresses import read_networks
    from tamis.notify.http import HttpRules, read_ports
    from tamis.notify.settings import Settings

    http = HttpRules(allowed=read_networks(given["allow_network"]), ca_file=given["ca_file"])
    if given["ports"] is not None:
        http = HttpRules(allowed=http.allowed, ca_file=http.ca_file, ports=read_ports(given["ports"]))
    workers = given["workers"]
    return Settings(
        workers=workers,
        per_endpoint=max(1, workers // 4),
        per_owner=max(1, workers * 3 // 4),
        digests=not given["no_digests"],
        http=http,
        mail=_mail(given) if given["smtp"] else None,
        sms=_sms(given) if given["sms_url"] else None,
        folder=given["folder"],
        limits=limits,
    )


def _mail(given: dict[str, Any]) -> MailServer:
    from tamis.notify.settings import MailServer

    host, _, port = given["smtp"].partition(":")
    if not host or (port and not (port.isascii() and port.isdecimal() and 0 < int(port) < 65_536)):
        raise InputError(
            f"--smtp is a host and perhaps a port, such as mail.example.org:587, not {given['smtp']!r}"
        )
    return MailServer(
        host,
        int(port or 0),
        security=given["smtp_security"],
        user=given["smtp_user"],
        password=secret(SMTP_PASSWORD),
        sender=given["smtp_from"],
        unsubscribe=given["unsubscribe"],
        ca_file=given["ca_file"],
    )


def _sms(given: dict[str, Any]) -> SmsGateway:
    from tamis.notify.settings import SmsGateway

    name, colon, value = (secret(SMS_HEADER) or "").partition(":")
    headers = ((name.strip(), value.strip()),) if colon else ()
    if given["sms_body"] is None:
        return SmsGateway(given["sms_url"], headers=headers)
    return SmsGateway(given["sms_url"], given["sms_body"], headers)
