"""Default address and key of a client."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ecphoria.client.exchange import is_loopback
from ecphoria.errors import BadFile

DEFAULT_URL: Final = "http://127.0.0.1:8765"
DEFAULT_TENANT: Final = "default"
_ADMIN_KEY_FILE = "admin.key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A service, and who calls it."""

    url: str
    key: str | None
    tenant: str | None


def target(url: str | None, key: str | None, tenant: str | None) -> Target:
    """Fill in what the caller left out.

    The address and the key come from `ECPHORIA_URL` and `ECPHORIA_API_KEY`, and the tenant of
    such a key from `ECPHORIA_TENANT`. Without a key, a service on this machine is called with the
    key that it left in its home, for the tenant `default`. With a key given, nothing else is
    looked up for it.

    Raises:
        BadFile: The key in the home is there but cannot be read.
    """
    # Beside the settings, which the light install lacks, only this module reads the environment.
    told = os.environ.get  # noqa: TID251
    if url is None:
        url = told("ECPHORIA_URL") or DEFAULT_URL
    if key is not None:
        return Target(url=url, key=key, tenant=tenant)
    tenant = tenant or told("ECPHORIA_TENANT")
    key = told("ECPHORIA_API_KEY")
    if key is None:
        home = told("ECPHORIA_HOME")
        key = local_key(url, Path(home) if home else None)
        tenant = tenant or (DEFAULT_TENANT if key else None)
    return Target(url=url, key=key, tenant=tenant)


def local_key(url: str, home: Path | None) -> str | None:
    """Read the key that a service on this machine made at its first start, if it made one.

    It is not given to a service elsewhere.

    Raises:
        BadFile: The key is there but cannot be read.
    """
    return admin_key(home) if is_loopback(url) else None


def admin_key(home: Path | None) -> str | None:
    """Read the key in the home of a service; the user's data directory if no home is given.

    Raises:
        BadFile: The key is there but cannot be read.
    """
    place = home or _default_home()
    if place is None:
        return None
    file = place.expanduser() / _ADMIN_KEY_FILE
    try:
        return file.read_text(encoding="ascii").strip() or None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadFile(
            f"The admin key {file} cannot be read ({error.strerror}); give a key with --key.",
            path=str(file),
        ) from error


def _default_home() -> Path | None:
    try:
        import platformdirs  # noqa: PLC0415 (the light install has no service on this machine)
    except ImportError:
        return None
    return Path(platformdirs.user_data_dir("ecphoria"))
