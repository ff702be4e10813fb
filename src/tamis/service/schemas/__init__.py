"""What is sent and answered, as types: they read JSON, write it, and make the OpenAPI page."""
