"""A bucket of S3 that holds the files of the archive. Needs the extra `bucket`."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from obstore.exceptions import BaseError, PreconditionError
from obstore.store import S3Store

from ecphoria.errors import Misconfigured

if TYPE_CHECKING:
    from obstore import PutMode

_PATIENCE: Final = timedelta(seconds=30)
"""Longest time in which a request is repeated while the store fails or does not answer."""
_REPEATS: Final = 4
_RACES: Final = 20
"""Most times a file is changed anew because another service changed it meanwhile."""
_QUERY: Final = re.compile(r"\?\S*")
_SHOWN: Final = 300


class Bucket:
    """The archive in a bucket, below the path of an address as `s3://BUCKET/PATH`.

    A file of a bucket can only be replaced, so a change writes it anew, if nobody else has changed
    it since it was read.
    """

    remedy = "Check ECPHORIA_ARCHIVE__URL, the bucket and its credentials"

    def __init__(self, url: str) -> None:
        """Read region, endpoint and credentials from the variables of AWS.

        Raises:
            Misconfigured: The address or a variable of the environment cannot be used.
        """
        self._url = url
        try:
            self._store = S3Store.from_url(
                url, retry_config={"max_retries": _REPEATS, "retry_timeout": _PATIENCE}
            )
        except (BaseError, ValueError) as error:
            raise Misconfigured(f"The archive cannot be in {url}: {_reason(error)}") from error

    def __str__(self) -> str:
        return self._url

    def knows(self, folder: str) -> bool:
        """Tell whether this folder has a file."""
        return bool(self.files(folder))

    def create(self, folder: str, name: str, content: bytes) -> None:
        """Store a file, in place of one of this name."""
        with _as_os_errors():
            self._store.put(_path(folder, name), content)

    def read(self, folder: str, name: str, start: int = 0, length: int = -1) -> bytes:
        """Read a part of a file, shorter at its end; by default all of it."""
        path = _path(folder, name)
        with self._usable(folder):
            if length < 0:
                return bytes(self._store.get(path).bytes())[start:]
            try:
                return bytes(self._store.get_range(path, start=start, length=length))
            except BaseError:
                # Nothing is left from there on: S3 answers 416.
                if start >= self._store.head(path)["size"]:
                    return b""
                raise

    def change(
        self, folder: str, name: str, change: Callable[[bytes], Mapping[int, bytes]]
    ) -> bytes:
        """Overwrite parts of a file; return the content."""
        path = _path(folder, name)
        with self._usable(folder):
            for _ in range(_RACES):
                found = self._store.get(path)
                mode: PutMode = {"e_tag": found.meta["e_tag"]}
                before = bytes(found.bytes())
                content = bytearray(before)
                for offset, piece in change(before).items():
                    content[offset : offset + len(piece)] = piece
                if content == before:
                    return before
                # A file that is sent in several parts can have no condition.
                with suppress(PreconditionError):
                    self._store.put(path, bytes(content), mode=mode, use_multipart=False)
                    return bytes(content)
        raise OSError("other services change the same file all the time")

    def files(self, folder: str, older_than_s: float | None = None) -> Sequence[str]:
        """Name the files, with an age only those not changed since, by the clock of the store."""
        try:
            found = [one for part in self._store.list(prefix=folder) for one in part]
        except (FileNotFoundError, BaseError) as error:
            raise OSError(_reason(error)) from error
        if older_than_s is not None:
            latest = time.time() - older_than_s
            found = [one for one in found if one["last_modified"].timestamp() <= latest]
        return sorted(one["path"].rpartition("/")[2] for one in found)

    def delete(self, folder: str, name: str) -> None:
        """Delete a file; it may be gone already."""
        with _as_os_errors():
            self._store.delete(_path(folder, name))

    def drop(self, folder: str) -> None:
        """Delete all files of a folder."""
        paths = [_path(folder, name) for name in self.files(folder)]
        with _as_os_errors():
            self._store.delete(paths)

    @contextmanager
    def _usable(self, folder: str) -> Iterator[None]:
        """Tell a missing file from a missing bucket, which is an error."""
        try:
            with _as_os_errors():
                yield
        except FileNotFoundError:
            self.files(folder)
            raise


def _path(folder: str, name: str) -> str:
    return f"{folder}/{name}"


@contextmanager
def _as_os_errors() -> Iterator[None]:
    """Raise an error of the object store as an OSError, like those of a disk."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(_reason(error)) from error
    except BaseError as error:
        raise OSError(_reason(error)) from error


def _reason(error: Exception) -> str:
    """Shorten a message, which repeats itself for developers; an address in it may be signed."""
    told = str(error).partition("Debug source:")[0]
    return _QUERY.sub("", " ".join(told.split()))[:_SHOWN]
