"""The two layers of the pre-search, and the inverted bit map below them."""
