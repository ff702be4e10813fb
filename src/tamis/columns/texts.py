"""Check which Arrow strings are UTF-8, and normalise them to NFC."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


def readable(strings: Any) -> npt.NDArray[np.bool_] | None:
    """Return which strings are UTF-8; ``None`` if all are. Arrow itself does not check."""
    try:
        strings.validate(full=True)
    except pa.ArrowInvalid:
        return np.array([_is_utf8(scalar) for scalar in strings], np.bool_)
    return None


def _is_utf8(scalar: Any) -> bool:
    try:
        scalar.as_py()
    except UnicodeDecodeError:
        return False
    return True


def normal(strings: Any) -> Any:
    """Return readable strings in NFC, by Python's tables as everywhere else; Arrow's tables may be older."""
    if pc.all(pc.string_is_ascii(strings)).as_py() is not False:
        return strings
    coded = strings.dictionary_encode()
    texts = [unicodedata.normalize("NFC", text) for text in coded.dictionary.to_pylist()]
    return pa.array(texts, strings.type).take(coded.indices)
