"""Formats logs for programs: one line for each record, as JSON or as ``name=value``."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from typing import Any

import msgspec

from tamis.service.middleware import REQUEST_ID

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:+@*,")


class LineFormatter(logging.Formatter):
    """A log formatter that writes one line per record: time, level, logger, message, then further fields."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self._write = _json if form == "json" else _logfmt

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        at = datetime.fromtimestamp(record.created, UTC)
        fields: dict[str, Any] = {
            "at": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request := REQUEST_ID.get():
            fields["request"] = request
        fields |= getattr(record, "fields", {})
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        return self._write(fields)


def configure(form: str, level: str = "info") -> None:
    """Send all logs to stderr in one format."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter(form))
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    for noisy in ("alembic", "uvicorn", "numba", "asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _json(fields: dict[str, Any]) -> str:
    return msgspec.json.encode(fields, enc_hook=str).decode()


def _logfmt(fields: dict[str, Any]) -> str:
    return " ".join(f"{name}={_value(value)}" for name, value in fields.items())


def _value(value: Any) -> str:
    text = str(value)
    return text if text and _PLAIN.issuperset(text) else msgspec.json.encode(text).decode()
