"""The process from which Spark forks its Python workers, with the kernels already loaded.

A new worker would need about two seconds to import Numba and load compiled kernels; a fork of a warm process
has them at once. PySpark collects garbage after every task. The daemon freezes the warm objects before the
first fork, so that no collection in a worker visits them. That would cost a tenth of a second and a copy of
their pages. ``spark.python.daemon.module`` names this module. Spark reads the port from stdout, so nothing
else may be written there.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def _stdout_untouched() -> Iterator[None]:
    """Redirect the output of libraries to stderr."""
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def main() -> None:
    """Warm up, then serve as Spark's own daemon does; a failed warm-up costs time, never a job."""
    try:
        with _stdout_untouched():
            import tamis.spark.worker  # noqa: F401  (for the forks)
            from tamis.index.warm import warm

            warm()
            gc.freeze()
    except Exception as failure:
        sys.stderr.write(f"tamis: workers start cold: {type(failure).__name__}: {failure}\n")
    from pyspark.daemon import manager

    manager()


if __name__ == "__main__":
    main()
