"""Measure changes of an index: what they cost beside a parse, and what fresh subscriptions cost to match."""
