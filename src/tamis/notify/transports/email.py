"""Sends e-mail as text and HTML through the service's mail server.

``EmailMessage`` writes the headers and refuses line breaks. User input reaches only the validated recipient
address and a cleaned subject. The Message-ID is derived from the message id, so that mail programs show a
retry once.
"""

from __future__ import annotations

import contextlib
import smtplib
import socket
import ssl
import threading
import time
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from urllib.parse import quote

from tamis.contract.delivery import Email
from tamis.errors import SendFailed, SendRefused, TransportUnavailable
from tamis.notify.message import Message
from tamis.notify.rendering import render_message
from tamis.notify.settings import MailServer, Settings
from tamis.notify.tls import tls_context
from tamis.notify.transports.base import Transport

IDLE_SECONDS = 30.0  # a connection that was idle for longer may be dead


class EmailTransport(Transport):
    """An e-mail transport that reuses connections to the mail server."""

    settings = Email

    def __init__(self, service: Settings) -> None:
        super().__init__(service)
        self._tls = tls_context(service.mail.ca_file if service.mail else None)
        self._idle: list[_Connection] = []
        self._lock = threading.Lock()

    def check(self, delivery: Email) -> None:
        """Raise ``TransportUnavailable`` if there is no mail server."""
        self._server()

    def _server(self) -> MailServer:
        if self.service.mail is None:
            raise TransportUnavailable("the service has no mail server; give it --smtp")
        return self.service.mail

    def send(self, delivery: Email, message: Message) -> None:
        """Send an e-mail; it counts as delivered when the mail server has accepted it."""
        server = self._server()
        mail = self.compose(delivery, message, server)
        try:
            connection = self._acquire(server)
            try:
                connection.send_message(mail, server.sender_address, [delivery.to])
            except BaseException:
                connection.close()
                raise
        except (smtplib.SMTPException, OSError) as bad:
            raise _failure(bad) from None
        self._release(connection)

    def close(self) -> None:
        """End all connections."""
        with self._lock:
            connections, self._idle = self._idle, []
        for connection in connections:
            with contextlib.suppress(smtplib.SMTPException, OSError):
                connection.quit()

    def compose(self, delivery: Email, message: Message, server: MailServer) -> EmailMessage:
        """Return the e-mail with its headers."""
        words = render_message(message, delivery.template, self.service.limits)
        mail = EmailMessage(policy=SMTP)
        mail["From"] = server.sender
        mail["To"] = delivery.to
        mail["Subject"] = words.subject
        mail["Date"] = format_datetime(message.created)
        mail["Message-ID"] = f"<{message.id}@{server.sender_address.rpartition('@')[2]}>"
        mail["Auto-Submitted"] = "auto-generated"
        if server.unsubscribe is not None:
            mail["List-Unsubscribe"] = f"<{_unsubscribe(server.unsubscribe, message)}>"
        mail.set_content(words.text)
        mail.add_alternative(words.html, subtype="html")
        return mail

    def _acquire(self, server: MailServer) -> _Connection:
        """Return a live connection: an idle one or a new one."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            if connection.is_alive(server.seconds):
                return connection
            connection.close()
        return _Connection(server, self._tls)

    def _release(self, connection: _Connection) -> None:
        connection.used = time.monotonic()
        with self._lock:
            self._idle.append(connection)


class _Connection(smtplib.SMTP):
    """A connection with a deadline for all commands of one e-mail."""

    def __init__(self, server: MailServer, tls: ssl.SSLContext) -> None:
        self.used = 0.0
        self._until = time.monotonic() + server.seconds
        self._implicit_tls = tls if server.security == "tls" else None
        super().__init__(server.host, server.port, timeout=server.seconds)
        try:
            if server.security == "starttls":
                self.starttls(context=tls)
            if server.user is not None:
                self.login(server.user, server.password or "")
        except BaseException:
            self.close()
            raise

    def is_alive(self, seconds: float) -> bool:
        """Return whether the server still answers; start the deadline of the next e-mail."""
        self._until = time.monotonic() + seconds
        if time.monotonic() - self.used > IDLE_SECONDS:
            return False
        try:
            return self.noop()[0] == 250
        except (smtplib.SMTPException, OSError):
            return False

    def getreply(self) -> tuple[int, bytes]:
        """Return a response before the deadline."""
        if self.sock is not None:
            self.sock.settimeout(max(0.001, self._until - time.monotonic()))
        return super().getreply()

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        """Connect; smtplib calls this method."""
        plain: socket.socket = super()._get_socket(host, port, timeout)  # type: ignore[misc]
        if self._implicit_tls is None:
            return plain
        try:
            return self._implicit_tls.wrap_socket(plain, server_hostname=host)
        except BaseException:
            plain.close()
            raise


def _unsubscribe(pattern: str, message: Message) -> str:
    values = {"{owner}": message.owner or "", "{subscription}": message.subscription}
    for place, value in values.items():
        pattern = pattern.replace(place, quote(value, safe=""))
    return pattern


def _failure(bad: Exception) -> SendFailed | SendRefused:
    """Return the error for a failed e-mail: a 5xx response about this e-mail is final."""
    said = " ".join(str(bad).split())[:200]
    if isinstance(bad, smtplib.SMTPRecipientsRefused):
        codes = [code for code, _ in bad.recipients.values()]
        return _by_code(codes[0], f"the mail server refuses the address: {said}")
    if isinstance(bad, smtplib.SMTPDataError | smtplib.SMTPSenderRefused):
        return _by_code(bad.smtp_code, f"the mail server refuses the mail: {said}")
    return SendFailed(f"the mail server failed: {said}")


def _by_code(code: int, message: str) -> SendFailed | SendRefused:
    return SendRefused(message, status=code) if 500 <= code < 600 else SendFailed(message, status=code)
