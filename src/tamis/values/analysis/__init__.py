"""Turn texts into terms: the analysers of text attributes.

An *analyser* cuts a text into words, and turns each word into terms. It has two steps:

1. Separators cut the text into *runs* of characters. The kernels do this step for tables.
2. Each run becomes a list of terms. The result depends on the run alone, so it is worked out once for each
   distinct run. A word that is left out (a stop word) becomes :data:`GAP` and keeps its position.

Events and subscriptions pass through the same analyser. A subscription names its analyser (``HAS 'coats'
USING english``), or gets the one that the index declares for the attribute.
"""

from tamis.values.analysis.analyser import GAP, Analyser, Words
from tamis.values.analysis.names import (
    DEFAULT,
    NO_ANALYSERS,
    Analysers,
    analyser_of,
    check_fingerprints,
    clean_analysers,
    fingerprints_of,
    known_names,
    shown,
)
from tamis.values.analysis.settings import Analysis

__all__ = [
    "DEFAULT",
    "GAP",
    "NO_ANALYSERS",
    "Analyser",
    "Analysers",
    "Analysis",
    "Words",
    "analyser_of",
    "check_fingerprints",
    "clean_analysers",
    "fingerprints_of",
    "known_names",
    "shown",
]
