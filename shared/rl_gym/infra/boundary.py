"""What lies within a deployment: with a closed boundary nothing outside of it is asked."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

__all__ = ["is_inside"]

_INTERNAL = (".internal", ".local", ".svc", ".localhost")


def is_inside(address: str) -> bool:
    """Whether a URL is of this machine or of a network of one's own, by its form: no name is looked up.

    Inside are loopback and private addresses, names without a dot (a container's, a service's), and names below
    `.internal`, `.local`, `.svc` and `.localhost`.
    """
    try:
        host = (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:
        return False
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(_INTERNAL))
    return ip.is_loopback or (ip.is_private and not ip.is_unspecified)
