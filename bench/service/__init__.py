"""What the service does in a second, and for minutes on end."""
