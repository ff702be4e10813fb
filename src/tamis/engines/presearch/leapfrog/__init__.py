"""The posting lists of a batch, and the leapfrog over them, in place of the bit map."""
