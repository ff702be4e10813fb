"""Run a real SMTP server in a thread, with or without TLS and a login."""

from __future__ import annotations

import asyncio
import contextlib
import email
import ssl
from collections.abc import Iterator
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult

from tests.waiting import PATIENCE

USER, WORD = "tamis", "open sesame"


class Mailbox:
    """A handler that keeps accepted mails and answers as the test sets it."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.recipients: list[list[str]] = []
        self.sessions: set[int] = set()
        self.to_recipient = ""  # the answer to RCPT if it is not acceptance
        self.to_data = ""
        self.port = 0

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if self.to_recipient:
            return self.to_recipient
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.to_data:
            return self.to_data
        self.sessions.add(id(session))
        self.recipients.append(envelope.rcpt_tos)
        mail = email.message_from_bytes(envelope.content, policy=default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        return "250 taken"


class _Controller(Controller):
    def factory(self) -> SMTP:
        self.lines = [*getattr(self, "lines", ()), SMTP(self.handler, **self.SMTP_kwargs)]
        return self.lines[-1]

    def hang_up(self) -> None:
        """Close the connections that clients keep open, which aiosmtpd leaves to the garbage collector."""
        asyncio.run_coroutine_threadsafe(self._hang_up(), self.loop).result(PATIENCE)

    async def _hang_up(self) -> None:
        for line in self.lines:
            for transport in (line.transport, line._original_transport):
                if transport is not None:
                    transport.abort()
        await asyncio.sleep(0)

    def _trigger_server(self) -> None:
        """Read the free port, which is known when aiosmtpd checks that it is up."""
        assert self.server is not None
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


def _login(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    is_right = (data.login, data.password) == (USER.encode(), WORD.encode())
    return AuthResult(success=is_right, handled=False)


@contextlib.contextmanager
def mailbox(
    security: str = "none", tls: ssl.SSLContext | None = None, login: bool = False
) -> Iterator[Mailbox]:
    """Run a server on a free port of this machine."""
    box = Mailbox()
    options: dict[str, Any] = {"hostname": "127.0.0.1", "port": 0}
    if security == "tls":
        options["ssl_context"] = tls
    if security == "starttls":
        options |= {"tls_context": tls, "require_starttls": True}
    if login:
        options |= {"authenticator": _login, "auth_required": True, "auth_require_tls": security != "tls"}
    controller = _Controller(box, ready_timeout=PATIENCE, **options)
    controller.start()
    box.port = controller.port
    try:
        yield box
    finally:
        controller.hang_up()
        controller.stop()
