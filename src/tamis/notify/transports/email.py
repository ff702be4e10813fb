"""Mail: text and HTML, handed to the service's mail server.

Headers are made by ``EmailMessage``, which refuses line ends; of what strangers wrote, only an address that
was checked and a cleaned subject get there. The Message-ID is made of the message's id, so that mail programs
show a repetition once.
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
from tamis.notify.transports.base import Transport

IDLE_SECONDS = 30.0  # a connection that was not used for longer is not trusted to be alive


class EmailTransport(Transport):
    """Keeps a connection to the mail server for each thread that sends."""

    settings = Email

    def __init__(self, service: Settings) -> None:
        super().__init__(service)
        self._tls = ssl.create_default_context(cafile=service.mail.ca_file if service.mail else None)
        self._idle: list[_Line] = []
        self._lock = threading.Lock()

    def check(self, delivery: Email) -> None:
        """Mail needs a server."""
        self._server()

    def _server(self) -> MailServer:
        if self.service.mail is None:
            raise TransportUnavailable("the service has no mail server; give it --smtp")
        return self.service.mail

    def send(self, delivery: Email, message: Message) -> None:
        """Delivered is what the mail server took: it says itself if it cannot go on."""
        server = self._server()
        mail = self.compose(delivery, message, server)
        try:
            line = self._take(server)
            try:
                line.send_message(mail, server.sender_address, [delivery.to])
            except BaseException:
                line.close()
                raise
        except (smtplib.SMTPException, OSError) as bad:
            raise _failure(bad) from None
        self._give_back(line)

    def close(self) -> None:
        """Say goodbye."""
        with self._lock:
            lines, self._idle = self._idle, []
        for line in lines:
            with contextlib.suppress(smtplib.SMTPException, OSError):
                line.quit()

    def compose(self, delivery: Email, message: Message, server: MailServer) -> EmailMessage:
        """Return the mail, header by header."""
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

    def _take(self, server: MailServer) -> _Line:
        """Return a connection that is alive: an idle one, or a new one."""
        with self._lock:
            line = self._idle.pop() if self._idle else None
        if line is not None:
            if line.is_alive(server.seconds):
                return line
            line.close()
        return _Line(server, self._tls)

    def _give_back(self, line: _Line) -> None:
        line.used = time.monotonic()
        with self._lock:
            self._idle.append(line)


class _Line(smtplib.SMTP):
    """A connection on which everything that one mail needs has to end by a moment."""

    def __init__(self, server: MailServer, tls: ssl.SSLContext) -> None:
        self.used = 0.0
        self._until = time.monotonic() + server.seconds
        self._from_the_start = tls if server.security == "tls" else None
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
        """Return whether the server still answers on it; starts the time of the next mail."""
        self._until = time.monotonic() + seconds
        if time.monotonic() - self.used > IDLE_SECONDS:
            return False
        try:
            return self.noop()[0] == 250
        except (smtplib.SMTPException, OSError):
            return False

    def getreply(self) -> tuple[int, bytes]:
        """Return an answer, in time."""
        if self.sock is not None:
            self.sock.settimeout(max(0.001, self._until - time.monotonic()))
        return super().getreply()

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        """What smtplib calls to connect."""
        plain: socket.socket = super()._get_socket(host, port, timeout)  # type: ignore[misc]
        if self._from_the_start is None:
            return plain
        try:
            return self._from_the_start.wrap_socket(plain, server_hostname=host)
        except BaseException:
            plain.close()
            raise


def _unsubscribe(pattern: str, message: Message) -> str:
    values = {"{owner}": message.owner or "", "{subscription}": message.subscription}
    for place, value in values.items():
        pattern = pattern.replace(place, quote(value, safe=""))
    return pattern


def _failure(bad: Exception) -> SendFailed | SendRefused:
    """What the mail server means: 5xx about this mail is final, everything else may pass."""
    said = " ".join(str(bad).split())[:200]
    if isinstance(bad, smtplib.SMTPRecipientsRefused):
        codes = [code for code, _ in bad.recipients.values()]
        return _by_code(codes[0], f"the mail server refuses the address: {said}")
    if isinstance(bad, smtplib.SMTPDataError | smtplib.SMTPSenderRefused):
        return _by_code(bad.smtp_code, f"the mail server refuses the mail: {said}")
    return SendFailed(f"the mail server failed: {said}")


def _by_code(code: int, message: str) -> SendFailed | SendRefused:
    return SendRefused(message, status=code) if 500 <= code < 600 else SendFailed(message, status=code)
