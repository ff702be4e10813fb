"""The choice of a bucket's cut: data clustering (approximate or exhaustive) and space clustering."""
