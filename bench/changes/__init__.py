"""Measure the cost of changes beside a parse of their text, and the cost of matching fresh subscriptions."""
