"""Request and response types: they parse and write JSON, and produce the OpenAPI schemas."""
