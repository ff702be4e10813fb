"""The notifier: turns rows of the outbox into deliveries and sends them until they arrive or are given up."""
