"""Where a bucket is cut: data clustering, approximate or exhaustive, and space clustering."""
