"""Makes the TLS context that all transports of a process share."""

from __future__ import annotations

import ssl
from functools import cache


@cache
def tls_context(ca_file: str | None) -> ssl.SSLContext:
    """Return a context that trusts the certificates of ``ca_file``, or of the system if it is None.

    Reading the system's certificates takes about 20 ms, so each file is read once for all transports.
    """
    return ssl.create_default_context(cafile=ca_file)
