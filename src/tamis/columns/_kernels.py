"""Compiled loops that read bulk tables: rows are many, so there are as few passes over them as possible."""

from tamis.kernel import kernel

BETWEEN, STRUCTURAL, FLOAT = 10, 250, 1  # as in codes.py and the definition of BETWEEN


@kernel
def renumber(code, known, number, out):
    """Assign numbers to the texts ``known[code]`` in order of appearance; return how many appear.

    ``number`` holds -1 for every text at first, and their numbers at the end.
    """
    count = 0
    for i in range(len(code)):
        text = known[code[i]]
        if number[text] < 0:
            number[text] = count
            count += 1
        out[i] = number[text]
    return count


@kernel
def mark_numbers(numbers, low, seen):
    """Mark the numbers that occur, counted from ``low``."""
    for i in range(len(numbers)):
        seen[numbers[i] - low] = True


@kernel
def take_ranks(numbers, low, rank, out):
    """Write the rank of every number, counted from ``low``."""
    for i in range(len(numbers)):
        out[i] = rank[numbers[i] - low]


@kernel
def wrong_counts(op, arity, least, most, wrong):
    """Mark rows with too few or too many operands for their operator; return whether there is one."""
    found = False
    for i in range(len(op)):
        wrong[i] = arity[i] < least[op[i]] or arity[i] > most[op[i]]
        found |= wrong[i]
    return found


@kernel
def fits_operands(op, args, kind, first, last, allowed):
    """Return whether a predicate takes operands of these kinds; ``allowed[op]`` has a bit per kind."""
    for k in range(first, last):
        if not (allowed[op] >> kind[args[k]]) & 1:
            return False
    if op >> 1 == BETWEEN >> 1:  # integers and floats are of one kind
        return max(kind[args[first]], FLOAT) == max(kind[args[first + 1]], FLOAT)
    return True


@kernel
def misplaced_row(op, arity, args, kind, row_start, arg_start, least, most, allowed, depth, deepest):
    """Return the first row that cannot stand where it does, or -1.

    The rows of an expression are in reverse Polish order. Each operator must have from ``least[op]`` to
    ``most[op]`` operands, and find them. A predicate finds them among the operands of its expression, of the
    kinds that it takes. AND, OR and NOT find them among the trees before them. No tree may have more than
    ``deepest`` levels. ``depth`` is scratch space, with room for the rows of the longest expression.
    """
    for e in range(len(row_start) - 1):
        operands, trees = arg_start[e], 0
        for row in range(row_start[e], row_start[e + 1]):
            count, levels = arity[row], 0
            if count < least[op[row]] or count > most[op[row]]:
                return row
            if op[row] < STRUCTURAL:
                if count > arg_start[e + 1] - operands:
                    return row
                if not fits_operands(op[row], args, kind, operands, operands + count, allowed):
                    return row
                operands += count
            else:
                if count > trees:
                    return row
                trees -= count
                for child in range(trees, trees + count):
                    levels = max(levels, depth[child])
                if levels >= deepest:
                    return row
            depth[trees] = levels + 1
            trees += 1
        if operands != arg_start[e + 1]:
            return row_start[e]
    return -1
