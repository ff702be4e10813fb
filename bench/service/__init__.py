"""The speed of the service, in one second and over minutes."""
