"""Receive the demonstration's notifications: a mailbox file behind a real SMTP server, and a webhook."""

from __future__ import annotations

import mailbox
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller

LOCAL = "127.0.0.1"
PATIENCE = 120  # seconds for the mail server to start


class Post:
    """The notifications that have arrived."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "mailbox"
        self._box = mailbox.mbox(self.file)
        self._lock = threading.Lock()
        self.mails = 0
        self.last_subject = ""
        self.hooks: dict[str, tuple[float, bytes]] = {}  # by message id: arrival time and body
        self.smtp_port = self.hook_port = 0

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        """Keep a mail; aiosmtpd calls this for each one."""
        with self._lock:
            mail = mailbox.mboxMessage(envelope.content)
            self._box.add(mail)
            self._box.flush()
            self.mails += 1
            self.last_subject = str(mail["subject"])
        return "250 taken"

    def take_hook(self, identity: str, body: bytes) -> None:
        """Keep a webhook; a repeated one counts once."""
        with self._lock:
            self.hooks.setdefault(identity, (time.perf_counter(), body))

    def close(self) -> None:
        """Close the mailbox."""
        self._box.close()

    @property
    def hook_url(self) -> str:
        """The URL for webhooks."""
        return f"http://{LOCAL}:{self.hook_port}/hook"


class _Mail(Controller):
    def _trigger_server(self) -> None:
        """Read the port that was free before aiosmtpd connects to it, as its start-up check."""
        server: Any = self.server
        self.port = server.sockets[0].getsockname()[1]
        super()._trigger_server()  # type: ignore[no-untyped-call]


@contextmanager
def post_office(folder: Path) -> Iterator[Post]:
    """Start both receivers on free ports of this machine; close them at the end of the block."""
    post = Post(folder)

    class Hook(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            post.take_hook(self.headers.get("webhook-id", ""), body)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    hooks = ThreadingHTTPServer((LOCAL, 0), Hook)
    hooks.daemon_threads = True
    post.hook_port = hooks.server_address[1]
    threading.Thread(target=hooks.serve_forever, daemon=True).start()
    mail = _Mail(post, hostname=LOCAL, port=0, ready_timeout=PATIENCE)
    mail.start()
    post.smtp_port = mail.port
    try:
        yield post
    finally:
        mail.stop()
        hooks.shutdown()
        hooks.server_close()
        post.close()
