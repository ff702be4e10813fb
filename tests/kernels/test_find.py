"""Test that ids are found among sorted strings, as a dictionary finds them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.columns.literals import string_column
from tamis.segment._kernels import find_string, find_strings

pytestmark = pytest.mark.kernels

texts = st.text(alphabet="ab\u00e9", max_size=4)


@given(held=st.lists(texts, unique=True), wanted=st.lists(texts))
def test_strings_are_found_where_they_stand(held: list[str], wanted: list[str]) -> None:
    order = np.array(sorted(range(len(held)), key=lambda at: held[at].encode()), np.uint32)
    found = np.empty(len(wanted), np.int64)
    find_strings(*string_column(wanted), order, *string_column(held), found)
    place = {text: at for at, text in enumerate(held)}
    assert found.tolist() == [place.get(text, -1) for text in wanted]
    for text in wanted:
        raw = np.frombuffer(text.encode(), np.uint8)
        assert find_string(raw, 0, len(raw), order, *string_column(held)) == place.get(text, -1)
