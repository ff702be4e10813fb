"""Match one plain event by one call of a kernel.

A batch spreads the cost of arrays, reports and calls over thousands of events. A single event pays for all of
them, which took ten times as long as the search itself. Here everything that does not depend on the event is
prepared once: the cuts of all attributes, the places of all arrays, scratch memory, and for each set of
attribute names their dimensions. The kernel locates the values, runs the engine, and replaces clauses by
sorted subscriptions. It gives up on an event that needs more care, which then takes the path of a batch.
"""

from tamis.segment.one.one import OneEvent, Quick

__all__ = ["OneEvent", "Quick"]
