"""Post the clauses of the head under the leaves of growing PS-Trees, in two ways.

A condition on few keys is posted in a list for each key, found by a hash table. A range is posted in every
*leaf* that it touches. The leaves of a dimension divide its keys like the predicate spaces of a PS-Tree. They
are cut again whenever the number of clauses has grown fourfold, so that leaves split as predicates arrive. A
posting carries the three next best conditions of its clause.
"""
