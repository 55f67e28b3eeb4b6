"""Default address and key of a client."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from httpx import URL

from ecphoria.errors import BadFile
from ecphoria.hosts import address, is_loopback

_HOST, _PORT = "127.0.0.1", 8765
DEFAULT_URL: Final = address("http", _HOST, _PORT)
DEFAULT_TENANT: Final = "default"
_ADMIN_KEY_FILE = "admin.key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A service, and who calls it."""

    url: str
    key: str | None
    tenant: str | None
    about_key: str = field(default="", compare=False)
    """The origin of the key; errors tell it if the key is refused."""


def target(url: str | None, key: str | None, tenant: str | None) -> Target:
    """Fill in what the caller left out.

    The address and the key come from `ECPHORIA_URL` and `ECPHORIA_API_KEY`, and the tenant of
    such a key from `ECPHORIA_TENANT`. Without an address, it is the one at which a service with
    the settings of this environment listens. Without a key, a service on this machine is called
    with its operator's key, for the tenant `default`. If a key is given, only the address is
    looked up.

    Raises:
        BadFile: The key in the home is there but cannot be read.
    """
    # Beside the settings, which the light install lacks, only this module reads the environment.
    told = os.environ.get  # noqa: TID251
    if url is None:
        url = told("ECPHORIA_URL") or default_url()
    if key is not None:
        return Target(url=url, key=key, tenant=tenant)
    tenant = tenant or told("ECPHORIA_TENANT")
    key = told("ECPHORIA_API_KEY")
    about_key = ""
    if key is None:
        home = Path(place) if (place := told("ECPHORIA_HOME")) else None
        key = local_key(url, home)
        tenant = tenant or (DEFAULT_TENANT if key else None)
        if origin := origin_of_key(url, home, key):
            about_key = (
                f"{origin}: ECPHORIA_HOME names the home of the service, `api_key` or "
                "ECPHORIA_API_KEY another key."
            )
    return Target(url=url, key=key, tenant=tenant, about_key=about_key)


def default_url() -> str:
    """Give the address where `ecphoria serve` listens with the settings of this environment."""
    told = os.environ.get  # noqa: TID251 (see `target`)
    port = told("ECPHORIA_SERVER__PORT", "")
    scheme = "https" if told("ECPHORIA_SERVER__TLS_CERTIFICATE") else "http"
    return address(
        scheme,
        told("ECPHORIA_SERVER__HOST") or _HOST,
        (int(port) if port.isdecimal() else 0) or _PORT,
    )


def is_here(url: str) -> bool:
    """Tell whether a service is on this machine, where it may have left a key."""
    return is_loopback(URL(url).host) or url == default_url()


def local_key(url: str, home: Path | None) -> str | None:
    """Find the key of a service on this machine.

    It is `ECPHORIA_AUTH__BOOTSTRAP_KEY`, with which a service of this environment starts, else
    the key that the service made at its first start. It is not given to a service elsewhere.

    Raises:
        BadFile: The key is there but cannot be read.
    """
    if not is_here(url):
        return None
    return _bootstrap_key() or admin_key(home)


def _bootstrap_key() -> str | None:
    return os.environ.get("ECPHORIA_AUTH__BOOTSTRAP_KEY")  # noqa: TID251


def admin_key(home: Path | None) -> str | None:
    """Read the key in the home of a service; the user's data directory if no home is given.

    Raises:
        BadFile: The key is there but cannot be read.
    """
    file = admin_key_file(home)
    if file is None:
        return None
    try:
        return file.read_text(encoding="ascii").strip() or None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadFile(
            f"The admin key {file} cannot be read ({error.strerror}); give a key with --key.",
            path=str(file),
        ) from error


def admin_key_file(home: Path | None) -> Path | None:
    """Tell where the key in the home of a service is; None if no home is given or known."""
    place = home or _default_home()
    return None if place is None else place.expanduser() / _ADMIN_KEY_FILE


def origin_of_key(url: str, home: Path | None, key: str | None) -> str | None:
    """Say where a key that nobody gave is from, or was looked for; None if it has no file."""
    file = admin_key_file(home)
    if file is None or not is_here(url):
        return None
    if key is None:
        return f"No key was given, and there is no {file}"
    return None if _bootstrap_key() else f"The key is from {file}"


def _default_home() -> Path | None:
    try:
        import platformdirs  # noqa: PLC0415 (the light install has no service on this machine)
    except ImportError:
        return None
    return Path(platformdirs.user_data_dir("ecphoria"))


def explorer_address(url: str, ticket: str) -> str:
    """Give the address that signs a browser in to the explorer of a service.

    The ticket stands after `#`, which browsers send to nobody.
    """
    return f"{url.rstrip('/')}/explorer#ticket={ticket}"
