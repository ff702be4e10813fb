"""The loops of ``bitmatrix`` over the rows of a slab: fetch them, AND them."""
