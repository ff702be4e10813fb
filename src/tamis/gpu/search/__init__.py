"""Search the postings of ``hybrid`` on a card: one block of threads takes one event after the other."""
