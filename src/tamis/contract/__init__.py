"""Types and rules that the service, its client, the store and the notifier share."""
