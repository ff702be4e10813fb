"""Plan a subscription: try an expression on stored events, and propose expressions from examples."""

from tamis.planning.backtest import Backtest, Period, Rows, backtest
from tamis.planning.suggest import Suggestion, suggest

__all__ = ["Backtest", "Period", "Rows", "Suggestion", "backtest", "suggest"]
