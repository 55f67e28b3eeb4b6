"""Puts the server's jars into a home: fetched once into a shared cache, checked, linked."""

import hashlib
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from ecphoria.engine.home import Home, held, refused, require_space, write_private
from ecphoria.engine.lock import Jar, JarLock
from ecphoria.engine.maven import Fetch
from ecphoria.engine.progress import Meter, Progress, Report, Stage
from ecphoria.errors import EngineError

__all__ = ["assemble", "is_assembled"]

_THREADS = 8
_ATTEMPTS = 2
_MARGIN = 64 * 2**20  # bytes left free on the cache's disk


def is_assembled(lock: JarLock, home: Home) -> bool:
    """Tell whether a finished assembly of exactly this lock stands in the home."""
    try:
        finished = home.assembled.read_text(encoding="ascii") == lock.digest
    except OSError:
        return False
    return finished and all((home.root / jar.folder / jar.filename).exists() for jar in lock.jars)


def assemble(
    lock: JarLock,
    *,
    home: Home,
    cache: Path,
    fetch: Fetch,
    report: Report,
    clock: Callable[[], float],
) -> None:
    """Complete `lib` and `plugins` of a home; what an earlier run left is used after a check.

    The caller holds the home's lock; the cache has a lock of its own, so that two homes fill it
    one after the other.

    Raises:
        EngineError: `no-network`, `jar-missing`, `hash-mismatch`, `disk-full`, `cannot-write`.
    """
    repository = cache / "engine" / "repository"
    try:
        repository.mkdir(parents=True, exist_ok=True)
        waiting = Progress(stage=Stage.WAIT)
        with held(repository.parent / "lock", waiting=lambda: report(waiting)):
            _require_space(lock, repository)
            meter = Meter(lock.total_bytes, report, clock)
            _obtain_all(lock, repository, fetch, meter)
            _place_all(lock, repository, home)
    except OSError as error:
        raise refused(error, home.root) from error
    write_private(home.assembled, lock.digest)


def _require_space(lock: JarLock, repository: Path) -> None:
    paths = [repository / jar.path for jar in lock.jars]
    present = sum(path.stat().st_size for path in paths if path.exists())
    missing = lock.total_bytes - present
    require_space(repository, missing + _MARGIN if missing > 0 else 0)


def _obtain_all(lock: JarLock, repository: Path, fetch: Fetch, meter: Meter) -> None:
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="engine-fetch") as pool:
        tasks = [pool.submit(_obtain, jar, repository, fetch, meter) for jar in lock.jars]
        try:
            for task in as_completed(tasks):
                task.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _obtain(jar: Jar, repository: Path, fetch: Fetch, meter: Meter) -> None:
    """Leave a jar with the right content in the cache; a wrong or partial one is replaced."""
    path = repository / jar.path
    if path.exists():
        if _sha256(path) == jar.sha256:
            meter.found(path.stat().st_size)
            return
        path.unlink()
    for attempt in range(_ATTEMPTS):
        try:
            fetch(jar, repository, meter.received)
        except EngineError as error:
            path.unlink(missing_ok=True)
            if error.fields.get("reason") == "no-network" and attempt + 1 < _ATTEMPTS:
                continue
            raise
        actual = _sha256(path)
        if actual == jar.sha256:
            return
        path.unlink()
    raise EngineError(
        f"{jar.coordinate} does not have the expected SHA-256: the repository or something on"
        " the way altered it. Nothing of it was kept; check the repository setting.",
        reason="hash-mismatch",
        jar=jar.coordinate,
        expected=jar.sha256,
        actual=actual,
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _place_all(lock: JarLock, repository: Path, home: Home) -> None:
    wanted = {home.root / jar.folder / jar.filename for jar in lock.jars}
    for folder in (home.lib, home.plugins):
        for stray in set(folder.glob("*.jar")) - wanted:
            stray.unlink()
    for jar in lock.jars:
        _place(repository / jar.path, home.root / jar.folder / jar.filename)


def _place(source: Path, target: Path) -> None:
    """Link the cached file, or copy it where the file system cannot link."""
    if target.exists():
        if target.samefile(source):
            return
        target.unlink()
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
