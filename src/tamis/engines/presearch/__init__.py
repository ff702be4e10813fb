"""``presearch``: Luwak's pre-search with a second layer, over batches of documents.

*Terms.* Every condition of a clause has a term: its cell or, for a range, the least block of cells that holds
it. Training documents (the sample of events) give the probability of each term. The least likely term of a
clause is its representative term.

*Inverted bit map.* Documents are taken in batches. For every term that a batch has there is a row of bits,
one for each document.

*First layer.* A clause is a candidate only if the batch has its representative term.

*Second layer.* Beside the representative, a clause indexes as many terms as pay (the term collection
algorithm weighs ANDs against evaluations). Clauses stand in a tree of nodes by these terms, rarest first, so
that clauses with a common beginning share its ANDs. The search leaves a node without promising documents, and
everything below it. If all terms are indexed and decide the clause, the remaining bits are its matches.

*Evaluation.* For all other promising pairs, the engine checks the literals, document by document. Clauses
without a term (NOT-only, always true) are residual: they are checked for every document. A document with
several values on an attribute, or an interval, is matched the plain way: all candidates of the first layer
are evaluated.

*Leapfrog.* With the parameter ``leapfrog``, a batch has sorted posting lists in place of the bit map. The
search intersects them from one possible document to the next, and so it evaluates the clauses that the second
layer does not decide. Conditions that terms do not decide are checked as before.

README.md maps the paper's words to these.
"""

from tamis.engines.presearch.engine import Presearch

__all__ = ["Presearch"]
