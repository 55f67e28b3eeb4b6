"""Names and addresses of hosts."""

from ipaddress import ip_address
from typing import Final

EVERYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 (read, not bound)
"""Addresses by which a service listens on all of a machine."""


def is_loopback(host: str) -> bool:
    """Tell whether a name or an address, without a port, always means this machine.

    >>> [is_loopback(host) for host in ("localhost", "127.8.9.1", "::1", "0.0.0.0", "a.example")]
    [True, True, True, False, False]
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def address(scheme: str, host: str, port: int) -> str:
    """Write the address at which this machine finds a service that listens on `host`.

    >>> address("http", "0.0.0.0", 8765), address("https", "::1", 8765)
    ('http://127.0.0.1:8765', 'https://[::1]:8765')
    """
    name = "127.0.0.1" if host in EVERYWHERE else host
    return f"{scheme}://[{name}]:{port}" if ":" in name else f"{scheme}://{name}:{port}"
