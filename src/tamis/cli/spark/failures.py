"""Turns failures of Spark into Tamis errors with one line and a code."""

from __future__ import annotations

import re
from typing import Any

from tamis import errors
from tamis.errors import InputError, SparkFailed, TamisError

# The last line of a worker's traceback, at any place in Spark's message.
_FROM_WORKER = re.compile(r"^(?:\[[A-Z_.]+\] |[\w.]*: )?tamis\.errors\.(\w+): (.*)$", re.MULTILINE)
_STATE = re.compile(r"\s*SQLSTATE: \w+")
_NOTES = re.compile(r"^\[([A-Z_.]+)\] ")
_INPUT = {"AnalysisException", "ParseException", "IllegalArgumentException"}


def error_of(failure: Exception) -> TamisError:
    """Return the Tamis error behind a failure of Spark, or an error with Spark's message."""
    text = _message(failure)
    raised = _FROM_WORKER.findall(str(failure))
    if raised:
        name, message = raised[-1]
        return _again(name, _STATE.sub("", message))
    if type(failure).__name__ in _INPUT:
        return InputError(_one_line(text))
    return SparkFailed(_one_line(text))


def _message(failure: Exception) -> str:
    """Return the message without the Java trace, if Spark separates the two."""
    described = getattr(failure, "getMessage", None)
    message = described() if callable(described) else None
    return str(message or failure)


def _again(name: str, message: str) -> TamisError:
    """Return the error that a worker raised, by the name of its class."""
    kind: Any = getattr(errors, name, TamisError)
    return kind(message) if isinstance(kind, type) and issubclass(kind, TamisError) else TamisError(message)


def _one_line(text: str) -> str:
    """Return the first paragraph without Spark's condition and state, which mean little to most users."""
    first = text.strip().split("\n\n")[0].split(";\n")[0]
    line = " ".join(_STATE.sub("", first).split())
    return _NOTES.sub("", line) or "Spark gave no reason"
