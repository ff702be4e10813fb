"""Share one TLS context among the HTTP clients of tests.

Reading the certificates of the machine takes longer than most requests, and the servers of these tests are
plain HTTP. Tests of TLS make contexts of their own.
"""

from __future__ import annotations

import ssl

TLS = ssl.create_default_context()
