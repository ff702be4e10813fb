"""Try an expression on stored events before it goes into force.

>>> listings = [{"price": 100 * at, "city": "Oslo"} for at in range(10)]
>>> found = backtest("price < 300", listings, against="price < 500")
>>> found.matched, found.events, found.only_new.count, found.only_old.count
(3, 10, 0, 2)
"""

from tamis.planning.backtest.backtest import backtest
from tamis.planning.backtest.report import Backtest, Period, Rows

__all__ = ["Backtest", "Period", "Rows", "backtest"]
