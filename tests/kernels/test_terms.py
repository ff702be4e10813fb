"""Test that the kernel finds the terms that tokenising finds: case, digits, short, long, colliding."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from tamis import Index
from tamis.space.names import string_buffers
from tamis.space.terms import TermIndex, Terms
from tamis.space.terms import _kernels as k
from tamis.values.text import terms_of

pytestmark = pytest.mark.kernels

LETTERS = "abcABC019 ,.-_\n\0"


def found(terms: dict[str, int], texts: list[str]) -> list[set[int]]:
    row, dimension = TermIndex(terms).find(*string_buffers(pa.array(texts, pa.string())))
    assert len(set(zip(row.tolist(), dimension.tolist(), strict=True))) == len(row), "a term twice in a text"
    return [set(dimension[row == at].tolist()) for at in range(len(texts))]


def expected(terms: dict[str, int], texts: list[str]) -> list[set[int]]:
    return [{terms[term] for term in terms_of(text) if term in terms} for text in texts]


def test_terms_of_random_texts_are_those_of_tokenising() -> None:
    for seed in range(60):
        chance = random.Random(seed)
        words = [
            "".join(chance.choices("abc019", k=chance.choice([1, 2, 7, 8, 9, 16, 17, 40]))) for _ in range(40)
        ]
        terms = {word: at for at, word in enumerate(dict.fromkeys(words[:30]))}
        texts = ["".join(chance.choices(LETTERS, k=chance.randint(0, 60))) for _ in range(5)]
        texts += [chance.choice([" ", "-", "\0"]).join(chance.choices(words, k=12)).title() for _ in range(5)]
        assert found(terms, texts) == expected(terms, texts)


def test_kernel_accepts_no_terms_and_no_texts() -> None:
    assert found({}, ["a b", ""]) == [set(), set()]
    assert found({"a": 3}, []) == []


def test_non_ascii_terms_are_skipped() -> None:
    assert found({"café": 1, "": 2, "cafe": 3}, ["CAFE cafe"]) == [{3}]


def test_slices_and_large_strings_are_read_alike() -> None:
    array = pa.array(["x", "red coat", "wool", "a red one"], pa.large_string()).slice(1)
    row, dimension = TermIndex({"red": 5, "wool": 6}).find(*string_buffers(array))
    assert list(zip(row.tolist(), dimension.tolist(), strict=True)) == [(0, 5), (1, 6), (2, 5)]


def test_equal_keys_are_distinguished_by_their_bytes() -> None:
    """In this table a long term stands under the key of other tokens, as if their hashes were equal."""
    text = np.frombuffer(b"abcdefghijk abc", np.uint8)
    keys, ends = np.empty(8, np.uint64), np.empty(16, np.int64)
    assert k.tokens(text, 0, len(text), keys, ends) == 2
    shift = np.uint64(63)
    start, data = np.array([0, 11]), np.frombuffer(b"zbcdefghijk", np.uint8)
    for token in (0, 1):
        table = np.zeros(4, np.uint64)
        at = k.slot_of(keys[token], shift)
        table[2 * at], table[2 * at + 1] = keys[token], np.uint64(1 << 32 | 1)
        args = ends[2 * token], ends[2 * token + 1], text, shift, table
        assert k.look_up(keys[token], *args, start, data) == -1
        assert k.look_up(keys[token], *args, np.array([0, 10]), data) == -1


def test_term_groups_have_no_index() -> None:
    terms = Terms()
    terms.add_term("wool", 1)
    terms.add_check('["phrase", ["new", "york"]]', 2)
    assert terms.index() is None
    assert sorted(terms.find("wool from new york")) == [1, 2]


def test_tables_with_every_kind_of_text_agree() -> None:
    """One column has ASCII strings, others and nulls, many terms each; some attributes have more."""
    words = [f"w{n}" for n in range(300)]
    rows = {f"s{n}": f"text HAS ALL ('w{n}', 'w{(7 * n) % 300}')" for n in range(300)}
    texts = [" ".join(words[:250]), None, "é " + " ".join(words[100:]), "W3 w21", ""]
    events = [{} if text is None else {"text": text} for text in texts]
    index = Index.build(rows)
    pairs = sorted(index.match_many(pa.table({"text": texts})).to_pylist(), key=str)
    assert pairs == sorted(index.match_many(events).to_pylist(), key=str)
    assert [sorted(index.match(event)) for event in events] == [
        sorted(row["subscription"] for row in pairs if row["event"] == at) for at in range(len(events))
    ]
    more = Index.build(rows | {"e": "text = 'W3 w21'", "p": "text HAS PHRASE 'w3 w21'"})
    extra = {("e", 3), ("p", 3)}
    assert {
        (row["subscription"], row["event"]) for row in more.match_many(pa.table({"text": texts})).to_pylist()
    } == {(row["subscription"], row["event"]) for row in pairs} | extra
