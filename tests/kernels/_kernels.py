"""A kernel for the test of kernel files."""

from tamis.kernel import kernel


@kernel
def doubled(values):
    """Return twice the sum."""
    total = 0.0
    for value in values:
        total += value
    return 2 * total
