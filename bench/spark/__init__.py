"""How fast the pipeline on Spark is: throughput, memory, large builds, and streams, in ratios of one run."""
