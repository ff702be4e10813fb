"""Keep the clauses of the head in the predicate lists of OpIndex, filled by Algorithm 1 of the paper.

Each clause belongs to the partition of its *pivot*, the rarest of its dimensions so far. A partition has a
list for each operator (=, <=, >=) and segment of dimensions. A list has the predicates of its clauses, sorted
by dimension and operand, and a signature of one bit for each predicate. An event counts the predicates that
it meets; a clause whose predicates were all met is checked.
"""
