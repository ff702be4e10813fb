"""Number the columns of the tables of p-nodes and c-nodes, for kernels and for readers.

A c-node and its bucket are one row. ``LO``..``HI`` bound everything in the bucket on its active dimension
(the paper's B_L ∪ B_O ∪ B_R); ``OWN_LO``..``OWN_HI`` bound the clauses in neither child (B_O). The l-node is
the run of clauses ``BEGIN``, ``COUNT``. The p-directory is the run of p-nodes ``P_FIRST``, ``P_COUNT``, by
dimension.
"""

DIM, LO, HI, OWN_LO, OWN_HI, LEFT, RIGHT, BEGIN, COUNT, P_FIRST, P_COUNT, PARENT = range(12)
C_WIDTH = 12
ROOT = 0  # the root has no active dimension; as a child, 0 means none

P_DIM, P_DIRECTORY, P_HOME = range(3)  # attribute, root bucket of the c-directory, c-node above it
P_WIDTH = 3

RIGID, APPROXIMATE, EXHAUSTIVE = range(3)  # ways to split a bucket
