"""Import the fixtures that the notifier tests share."""

from tests.notify.running import notifying  # noqa: F401  (a fixture)
