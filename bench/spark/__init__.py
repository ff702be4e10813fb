"""The speed of the Spark pipeline: throughput, memory, large builds, and streams, in ratios of one run."""
