"""The settings of analysers: the built-in ones by name, and those that users define."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Literal

import msgspec

Cutting = Literal["folding", "standard", "whitespace", "keyword"]

LANGUAGES = (
    "danish", "dutch", "english", "finnish", "french", "german", "italian", "norwegian", "portuguese",
    "russian", "spanish", "swedish",
)  # fmt: skip
"""The languages that have a stemmer and a list of stop words."""


class Analysis(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The settings of one analyser; the steps run in the order of the fields.

    ``cut`` says where words begin and end, and in which form they are compared:

    - ``folding``: runs of letters and digits, without regard to case and accents;
    - ``standard``: words by the rules of Unicode (UAX 29), in lower case and NFKC;
    - ``whitespace``: everything between white space, as it is written;
    - ``keyword``: the whole value, as it is written.
    """

    cut: Cutting = "standard"
    cjk: bool = False  # pairs of neighbouring characters for Chinese, Japanese and Korean
    stop_words: tuple[str, ...] = ()
    stemmer: str = ""  # a language of LANGUAGES
    fold_accents: bool = False
    synonyms: tuple[tuple[str, ...], ...] = ()  # every word of a group counts as its first word
    ngrams: int = 0  # the length of the pieces that words are cut into; 0 keeps whole words


@functools.cache
def built_in(name: str) -> Analysis | None:
    """Return the settings of a built-in analyser; ``None`` if there is none with this name."""
    plain = {
        "folding": Analysis("folding"),
        "standard": Analysis("standard"),
        "whitespace": Analysis("whitespace"),
        "keyword": Analysis("keyword"),
        "cjk": Analysis("folding", cjk=True),
        "ngrams": Analysis("folding", ngrams=3),
    }
    if name in LANGUAGES:
        return Analysis("standard", stop_words=stop_words_of(name), stemmer=name, fold_accents=True)
    return plain.get(name)


BUILT_IN = ("folding", "standard", "whitespace", "keyword", "cjk", "ngrams", *LANGUAGES)
"""The names of the built-in analysers."""


@functools.cache
def stop_words_of(language: str) -> tuple[str, ...]:
    """Return the stop words of a language."""
    text = resources.files(__package__).joinpath("stop_words.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        name, _, words = line.partition(":")
        if name == language:
            return tuple(words.split())
    return ()
