"""Test the measure of what ``presearch`` learns: sections 6.2 and 6.3 of its paper."""

from __future__ import annotations

import pyarrow as pa
import pytest

from bench.estimates import estimates
from bench.workloads.w3 import W3


def documents(*texts: str) -> pa.Table:
    return pa.table({"body": list(texts)})


def test_errors_are_those_of_a_small_example() -> None:
    """Half of the training documents have y, and a quarter x, which never comes without y."""
    book = pa.table({"id": ["q", "r"], "expression": ["body HAS ALL ('x', 'y')", "body HAS ALL ('n', 'y')"]})
    training = documents(*["x y"] * 100, *["y"] * 100, *["z"] * 200)
    test = documents("x y", "x", "y", "z")
    found = estimates(book, training, test, pair_documents=50)
    assert found.partial_queries == 1, "no test document has n"
    assert found.pairs == 1
    assert found.independent == pytest.approx((200.5 / 401 - 1 / 4) ** 2, rel=0.01)
    assert found.matrix == pytest.approx((100 / 400 - 1 / 4) ** 2, abs=1e-9)


@pytest.mark.slow
def test_matrix_improves_the_estimates_of_partial_queries() -> None:
    """Section 6.2: the error falls from 0.0064 to 0.0054, by 16 %."""
    texts = W3(vocabulary=20_000, topics=40, topic_words=400, query_shift=20, topic_shift=20)
    found = estimates(texts.subscriptions(4_000, 1), texts.events(1_500, 2), texts.events(1_500, 3), 50)
    assert found.matrix <= 0.0054 / 0.0064 * found.independent
    assert 0.0 < found.coverage < 1.0
