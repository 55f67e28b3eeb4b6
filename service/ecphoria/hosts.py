"""Names and addresses of hosts."""

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Tell whether a name or an address, without a port, always means this machine.

    >>> [is_loopback(host) for host in ("localhost", "127.8.9.1", "::1", "0.0.0.0", "a.example")]
    [True, True, True, False, False]
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
