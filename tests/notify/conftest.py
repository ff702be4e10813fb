"""What the tests of the notifier share."""

from tests.notify.running import notifying  # noqa: F401  (a fixture)
