"""Propose expressions from a few events that should match and some that should not.

>>> wanted = [{"price": 100 * at, "city": "Oslo"} for at in range(5)]
>>> others = [{"price": 100 * at, "city": "Rome"} for at in range(9)]
>>> suggest(wanted, others)[0].text
"city = 'Oslo'"
"""

from tamis.planning.suggest.suggest import Suggestion, suggest

__all__ = ["Suggestion", "suggest"]
