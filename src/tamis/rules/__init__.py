"""Import rules of other systems as subscriptions.

>>> from tamis import rules
>>> found = rules.read("sql", "price < 10 AND city = 'Oslo'")
>>> [(rule.id, rule.text) for rule in found.rules]
[('text', "price < 10 AND city = 'Oslo'")]

Every rule is imported, imported with a stated difference, or refused with a reason and a place.
"""

from tamis.rules.formats import FORMATS, read
from tamis.rules.imported import Imported, Place, Refused, Rule

__all__ = ["FORMATS", "Imported", "Place", "Refused", "Rule", "read"]
