"""Write expressions as rules of other systems: EventBridge patterns and Elasticsearch queries.

An exported rule is imported again. It is refused unless the import gives the same expression, so a round trip
never changes a meaning.
"""

from tamis.rules.export.exporting import EXPORTS, Exported, export

__all__ = ["EXPORTS", "Exported", "export"]
