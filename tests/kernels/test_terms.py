"""Test that kernels find the terms of many texts that tokenising finds in each."""

from __future__ import annotations

import json
import random
import threading
import unicodedata
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tamis import Index
from tamis.columns.literals import string_column
from tamis.space.names import string_buffers
from tamis.space.terms import LONG, Terms, texts
from tamis.space.terms.characters import PAGES, characters_of
from tamis.space.terms.many import ManyWords
from tamis.space.terms.table import TermTable
from tamis.space.terms.vocabulary import _kernels as k
from tamis.space.terms.vocabulary import no_words, words_of
from tamis.values.terms import read_term
from tamis.values.text import letters_of, terms_of

pytestmark = pytest.mark.kernels

# Capitals, ligatures, marks that become letters or vanish, words within one character, Hangul, other planes.
LETTERS = "abcABC019 ,.-_\n\0éÉe\u0301ßſﬁ㏇ﷺ각ㄱ\u0345ᾳ½Ⅷ²İıΣς中文𝒳क़\u200d"
WORDS = ["a", "b", "ss", "s1", "co", "fi", "abcdefgh", "abcdefghi", "각", "中文", "x" * 40]
TERMS = [*WORDS, "a*", "*s", "s?", "co~1", "/f./", "[b TO s1}"]
WIDE = st.text(st.sampled_from(LETTERS), max_size=30) | st.text(max_size=8)
TEXTS = st.lists(WIDE | st.lists(st.sampled_from([*WORDS, "ß", "㏇", "B"])).map(" ".join), max_size=5)
CHECKS = st.tuples(st.sampled_from(["any", "all", "phrase"]), st.lists(st.sampled_from(TERMS), min_size=2))


def table(terms: dict[str, int], checks: list[tuple[str, list[str]]] | None = None) -> Terms:
    made, flag = Terms(), 100
    for term, dimension in terms.items():
        made.add_term(read_term(term).text(), dimension)
    for mode, own in checks or []:
        made.add_check(json.dumps([mode, [read_term(term).text() for term in own]]), flag)
        flag += 1
    return made


def found(terms: Terms, strings: list[str], kind: Any = None) -> list[list[int]]:
    """Return the flags of each string, from the bytes of a slice of an Arrow array."""
    array = pa.array(["x", *strings], kind or pa.string()).slice(1)
    count, flags = terms.texts().find(*string_buffers(array))
    return [sorted(own.tolist()) for own in np.split(flags, np.cumsum(count)[:-1])] if strings else []


def expected(terms: Terms, strings: list[str]) -> list[list[int]]:
    return [sorted(terms.find_in_short(unicodedata.normalize("NFC", text))) for text in strings]


@given(st.sets(st.sampled_from(TERMS), min_size=1), st.lists(CHECKS, max_size=4), TEXTS, TEXTS)
def test_flags_of_many_texts_are_those_of_each(
    terms: set[str], checks: list[tuple[str, list[str]]], first: list[str], second: list[str]
) -> None:
    made = table({term: at for at, term in enumerate(sorted(terms))}, checks)
    assert found(made, first) == expected(made, first)
    assert found(made, second, pa.large_string()) == expected(made, second)


@given(st.text(max_size=40) | WIDE)
def test_letters_of_characters_are_the_words_of_a_text(text: str) -> None:
    assert "".join(map(letters_of, text)).replace("\0", " ").split() == terms_of(text)


@pytest.mark.compiled
def test_every_character_has_the_letters_that_tokenising_gives() -> None:
    """Words are compared at the ends and within, so that a character that joins or separates is noticed."""
    words = no_words()
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for low in range(0, len(codes), 1 << 16):
        text = "".join(f"a{chr(code)}b {chr(code)} " for code in codes[low : low + (1 << 16)])
        start, data = string_buffers(pa.array([text]))
        tokens = words.read(start, data, characters_of(letters_of), keep=True)
        assert tokens.others.to_list() == terms_of(text)


ANY_TERM = st.one_of(
    st.sampled_from(TERMS),
    st.builds(
        "{}~{},{}".format, st.text("abc", min_size=1, max_size=10), st.integers(1, 2), st.integers(0, 2)
    ),
    st.builds("{}*{}?{}".format, *[st.text("ab", min_size=1, max_size=2)] * 3),
    st.sampled_from(
        ["/[^a]*b/", "/a|[^b]{1,3}/", r"/a\z|b\B./", "/(?i)B+/", "/^ab$/", "[* TO b}", "{b TO *]", "é~1"]
    ),
)


@given(
    st.lists(ANY_TERM, min_size=1, max_size=8),
    st.lists(st.text("abcé", min_size=1, max_size=11), max_size=12, unique=True),
)
def test_terms_of_many_words_are_those_of_each(written: list[str], words: list[str]) -> None:
    made = TermTable()
    patterns = {text for term in written if not (text := read_term(term).text()).isalnum()}
    assume(patterns)
    for term in patterns:
        made.add(term)
    assert of_many(made, words) == [
        {text for text in patterns if read_term(text).matches(word)} for word in words
    ]


def of_many(made: TermTable, words: list[str]) -> list[set[str]]:
    many = ManyWords(made)
    found: list[set[str]] = [set() for _ in words]
    for at, term in zip(*(side.tolist() for side in many.of(string_column(words))), strict=True):
        found[at].add(many.terms[term])
    return found


def test_words_with_more_fuzzy_terms_than_fit_at_once_are_found() -> None:
    made = TermTable()
    for one in "abcdefgh":
        made.add(f"{one}{one}~2")
    words = [f"{one}{two}" for one in "abcdefgh" for two in "abcdefgh"]
    assert [len(terms) for terms in of_many(made, words)] == [8] * 64


def test_random_words_of_all_lengths_are_found() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        sizes = [1, 2, 7, 8, 9, 16, 17, 40]
        words = ["".join(chance.choices("abc019", k=chance.choice(sizes))) for _ in range(40)]
        made = table({word: at for at, word in enumerate(dict.fromkeys(words[:30]))})
        strings = [chance.choice([" ", "-", "\0"]).join(chance.choices(words, k=12)).title() for _ in "12345"]
        assert found(made, strings) == expected(made, strings)


def test_no_texts_and_empty_texts_set_no_flags() -> None:
    assert found(table({"a": 3}), []) == []
    assert found(table({"a": 3}), ["", "-", "b"]) == [[], [], []]
    assert found(table({}, [("phrase", ["a", "b"])]), ["", "b a", "a b"]) == [[], [], [100]]


@pytest.mark.parametrize("plain", [True, False])
def test_long_words_are_found(plain: bool) -> None:
    word = "ab" * 5_000
    made = table({word: 1, word + "c": 2} | ({} if plain else {"abab*": 3}))
    assert found(made, [word, f"{word}c-{word}", word + "d"]) == expected(
        made, [word, f"{word}c {word}", word + "d"]
    )


@pytest.mark.parametrize("size", [LONG - 1, LONG, LONG + 1])
def test_one_text_has_the_same_flags_by_kernels_and_without(size: int) -> None:
    made = table({"a": 1, "b*": 2}, [("phrase", ["a", "é"])])
    text = ("a é bb " * size)[:size]
    assert sorted(made.find(text)) == sorted(made.find_in_short(text)) == [1, 2, 100]


def test_phrase_is_found_by_its_rarest_neighbours() -> None:
    checks = [("phrase", ["a", "b", f"w{n}", "c"]) for n in range(4)] + [("phrase", ["b", "b"])]
    made = table({"a": 1}, checks)
    strings = ["a b w2 c", "b b w2 c", "a b w2", "w2 c a b w2 a b w3 c", "a b b w1 c", "a a b w0 c"]
    assert found(made, strings) == expected(made, strings)


def test_equal_keys_are_distinguished_by_their_bytes() -> None:
    """In this table a long word stands under the key of other words, as if their hashes were equal."""
    shift, secret = np.uint64(63), np.uint64(3)
    letters = np.frombuffer(b"abcdefghijkabc", np.uint8)
    start, data = np.array([0, 11]), np.frombuffer(b"zbcdefghijk", np.uint8)
    for low, high in ((0, 11), (11, 14)):
        key = k.key_of(letters, low, high, secret)
        entries = np.zeros(4, np.uint64)
        k.enter(key, 11, 0, entries, shift, secret)
        for other in (start, np.array([0, 10])):
            args = letters, 1, entries, shift, secret, other, data
            assert k.look_up(key, low, high, *args) == -1


def test_reader_of_fewer_words_does_not_see_later_ones() -> None:
    before = words_of(string_column(["a", "b"]))._grown(10)
    after, numbers = before.add(string_column(["b", "c", "c", "d" * 20]))
    assert numbers.tolist() == [1, 2, 2, 3]
    assert after.table is before.table, "the writer adds to the arrays of the reader"
    start, data = string_buffers(pa.array(["c a b", "d" * 20]))
    characters = characters_of(letters_of)
    assert before.read(start, data, characters, keep=True).word.tolist() == [-1, 0, 1, -1]
    assert after.read(start, data, characters, keep=True).word.tolist() == [2, 0, 1, 3]


def test_vocabulary_grows_with_words_and_with_bytes() -> None:
    words, many = no_words(2), [f"w{n}" for n in range(100)] + ["x" * 500]
    words, numbers = words.add(string_column(many + many))
    assert numbers.tolist() == [*range(101), *range(101)]
    assert words.column().to_list() == many


@pytest.mark.parametrize(
    ("limit", "value"), [("MOST_WORDS", 5), ("MOST_BYTES", 20), ("MOST_LISTED", 20), ("PIECE", 4)]
)
def test_vocabulary_that_starts_anew_changes_no_flags(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(texts, limit, value)
    made = table({"w1*": 1, "w7": 2}, [("phrase", ["w*3", "w4"])])
    for round_ in range(3):
        strings = [f"w{n} w{n + 1} w{n + 2}é" for n in range(round_, 30)]
        assert found(made, strings) == expected(made, strings)
    if limit in ("MOST_WORDS", "MOST_BYTES"):
        assert made.texts()._known.words.used <= 5 + 32


def test_marks_start_anew_before_they_overflow() -> None:
    made = table({"a": 1, "b*": 2}, [("all", ["a", "bb"])])
    strings = ["a bb", "b", "a"]
    assert found(made, strings) == expected(made, strings)
    made.texts()._marks[0].last[0] = np.iinfo(np.int32).max - 3
    for _ in range(3):
        assert found(made, strings) == expected(made, strings)


def test_text_with_more_flags_than_words_is_flagged() -> None:
    checks = [("any", ["a", f"w{n}"]) for n in range(50)]
    made = table({}, checks)
    assert found(made, ["a", "w3", "a"] * 20) == expected(made, ["a", "w3", "a"] * 20)


def test_pages_load_once_and_surrogates_have_no_letters() -> None:
    characters = characters_of(letters_of)
    marks = np.zeros(PAGES, np.uint8)
    marks[[1, 0xD8]] = 1
    characters.load(marks)
    pages = characters.tables.page.copy()
    characters.load(marks)
    assert np.array_equal(pages, characters.tables.page)
    place = int(pages[0xD8]) * 256
    assert characters.tables.start[place] == characters.tables.start[place + 256]


@pytest.mark.compiled
def test_many_threads_find_what_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MOST_WORDS", 300)
    made = table({"w1*": 1, "*7": 2, "w5": 3}, [("phrase", ["w*", "w5"])])
    batches = [[f"w{n} w{n * part % 90} v{n * part}" for n in range(60)] for part in range(1, 20)]
    wanted = [expected(made, batch) for batch in batches]
    wrong: list[int] = []

    def work(seed: int) -> None:
        for at in random.Random(seed).choices(range(len(batches)), k=40):
            if found(made, batches[at]) != wanted[at]:
                wrong.append(at)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_tables_with_every_kind_of_text_agree() -> None:
    """One column has ASCII strings, others and nulls, many terms each; some attributes have more."""
    words = [f"w{n}" for n in range(300)]
    rows = {f"s{n}": f"text HAS ALL ('w{n}', 'w{(7 * n) % 300}')" for n in range(300)}
    strings = [" ".join(words[:250]), None, "é " + " ".join(words[100:]), "W3 w21", ""]
    events = [{} if text is None else {"text": text} for text in strings]
    index = Index.build(rows)
    pairs = sorted(index.match_many(pa.table({"text": strings})).to_pylist(), key=str)
    assert pairs == sorted(index.match_many(events).to_pylist(), key=str)
    assert [sorted(index.match(event)) for event in events] == [
        sorted(row["subscription"] for row in pairs if row["event"] == at) for at in range(len(events))
    ]
    more = {"e": "text = 'W3 w21'", "p": "text HAS PHRASE 'w3 w21'", "c": "text LIKE '%3 w2%'"}
    extra = {("e", 3), ("p", 3), ("c", 3)}
    found_pairs = Index.build(rows | more).match_many(pa.table({"text": strings})).to_pylist()
    assert {(row["subscription"], row["event"]) for row in found_pairs if row["event"] != 0} - {("c", 2)} == {
        (row["subscription"], row["event"]) for row in pairs if row["event"] != 0
    } | extra


@pytest.mark.parametrize("extra", [{}, {"e": "text = 'x'", "c": "text LIKE '%w3 w%'"}])
def test_long_texts_of_dictionaries_are_read_together(extra: dict[str, str]) -> None:
    rows = {f"s{n}": f"text HAS ALL ('w{n}', 'w{(7 * n) % 90}')" for n in range(90)}
    index = Index.build(rows | extra | {"p": "text HAS PHRASE 'w8 é w9'"})
    texts_ = [" ".join(f"w{n}" for n in range(at, 90, 1 + at % 3)) for at in range(6)]
    events = [{"text": text, "n": 1} for text in [*texts_, "w8 e w9 " * 40, "w3", "\ud800" * 300]]
    pairs = index.match_many(events, on_error="skip").to_pylist()
    for at, event in enumerate(events[:-1]):
        assert sorted(p["subscription"] for p in pairs if p["event"] == at) == sorted(index.match(event))
