"""Typed clients of the services, one module a service. They need httpx (the extra `services`)."""
