"""Explain verdicts: the reasons that several claims share."""

RUNS = (
    "A leaf of our BE-Tree is a run of the clauses that all engines share. It has no postings of its own, "
    "and the shared clauses are not counted."
)
STRONG = (
    "Our k-index works on cells, does not enumerate ranges over more than 16,384 of them, and counts in "
    "arrays that fit the cache. It is a stronger baseline than the paper's."
)
SHARED_BUILD = (
    "Construction here includes work that all engines share: normalising, cutting attributes into cells, "
    "writing clauses. It is more than half of the time of OpIndex."
)
SHARED_INSERTION = (
    "Construction here includes work that all engines share, from normalising to writing clauses: hybrid, "
    "which inserts nothing one by one, takes more than half of this time."
)
PARTS = (
    "Our k-index bounds each part of a list by its best clause, so it drops most parts before it counts. "
    "The k-index of the paper has one bound for a list."
)
CELLS = (
    "Cells are ranks of the operands that subscriptions use. A range covers few of them, and neither "
    "memory nor time depends on the values of an attribute."
)
LONG = "A longer subscription matches fewer events, and a check ends at the first condition that fails."
PROBES = (
    "Each attribute of an event may be a pivot, and each pivot is probed with all pairs of the event. So "
    "the probes grow with the square of the event's size."
)
LEAVES = (
    "The clauses of a leaf stand in one run of memory, and a check takes nanoseconds. Large leaves "
    "therefore cost less here."
)
CACHE = (
    "Each look-up of a pair is a cache miss, and further postings in a list cost little. PSTBloom reads "
    "its postings in a row and signs ranges, not only attributes."
)
FILTERED = (
    "Our PSTHash has a filter of 16 bits for each bucket, which the paper lacks. On sparse data it drops "
    "nearly all pairs before their lists are read."
)
OUTPUT = (
    "If half of all subscriptions match, every engine writes the same pairs, and a scan reads its clauses "
    "in a row."
)
RECORDS = (
    "A predicate in our OpIndex is a record of a few bytes, not a value and a pointer. OpIndex gains more "
    "by cells than PSTBloom does."
)
MARKS = (
    "Our PSTBloom chooses the widths of marks for each dimension and writes four marks into each posting. "
    "The paper sets a bit for each predicate."
)
LEVELS = (
    "A crowded dimension gets more levels of blocks, so a clause has more postings in a larger book. The "
    "directories of OpIndex weigh most in a small one."
)
INSERTS = "Our tree inserts with compiled kernels over flat arrays, a few µs for each subscription."
FIXED_COSTS = "The data are small: few expressions share an attribute, and fixed costs for each event decide."
PREFIXES = (
    "A prefix is a range of cells here, as cheap as a comparison. If all predicates are prefixes, the "
    "lists of the other operators are empty, and an event visits fewer lists."
)
SMALL_PART = "Insertion is a small part of our construction."
BITS = "Bits decide nearly all candidates here, so few evaluations are left for the rule to avoid."
ANDS = "An AND of two bit rows takes nanoseconds, so indexing all terms costs little."
DIMENSIONS = (
    "Every dimension has its own cells, lists and widths of marks, so that more dimensions take longer to "
    "write."
)
PREDICATES = "Longer subscriptions have more predicates to place, whatever the engine."
PIVOTS = "With more dimensions fewer subscriptions share a pivot, so an event counts fewer predicates."
COMPILED = "Our interval tree is compiled and lies in flat arrays."
AT_ONCE = "Both are built from sorted ends in one go."
FLAT = "A leaf of our PS-Tree stores numbers of intervals in flat arrays, without nodes or pointers."
