"""Read and test the terms of ``HAS``: words, wildcards, fuzzy words, regular expressions and ranges.

A *term* has one written form, which is also its stored form:

======================  =====================================================
``coat``                the word itself
``coat*`` ``c?at``      ``*`` is any run of letters and digits, ``?`` is one
``color~1``             at most one edit away; ``color~2,3`` keeps three letters
``color~3:hamming``     at most three letters replaced; also ``:levenshtein``
``/colou?r/``           a regular expression (RE2) that the whole word matches
``[alpha TO beta}``     words in the order of their characters; ``*`` is open
======================  =====================================================

Words are folded before they are compared: case and accents do not count. A word has letters and digits only,
so the signs of the other forms cannot occur in it. Other analysers make terms with any signs. Such a term is
stored as ``=c++``, and a place in a phrase where the analyser left a word out as an empty string.
"""

from tamis.values.terms.kinds import (
    Fuzzy,
    Gap,
    Literal,
    Range,
    Regex,
    Term,
    Wildcard,
    Word,
    as_word,
    has_phrase,
    phrase_places,
    read_term,
    term_places,
)
from tamis.values.terms.proximity import Proximity, first_choice, holds_at_least, is_close
from tamis.values.terms.reading import read_terms

__all__ = [
    "Fuzzy",
    "Gap",
    "Literal",
    "Proximity",
    "Range",
    "Regex",
    "Term",
    "Wildcard",
    "Word",
    "as_word",
    "first_choice",
    "has_phrase",
    "holds_at_least",
    "is_close",
    "phrase_places",
    "read_term",
    "read_terms",
    "term_places",
]
