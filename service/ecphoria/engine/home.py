"""Folders of the managed engine, and the list of jars it is made of."""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Literal

from ecphoria.errors import EngineError

_FULL = {errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """The state that processes share: `pid` is None while stopped, the ports stay.

    `keep` is true for a server that stays until `down`, and false for one that ends with the
    last process that uses it.
    """

    pid: int | None
    bolt_port: int
    http_port: int
    keep: bool

    def stopped(self) -> "ServerState":
        """Keep the ports for the next start."""
        return replace(self, pid=None, keep=False)


class Home:
    """The directory of one managed server: every path in it has its name here.

    Attributes:
        lib: The server's jars.
        plugins: Jars whose classes may be procedures: only GDS.
        conf: Folder of neo4j.conf, rewritten at every start.
        data: The store: the only part that cannot be made again.
        console: The log file of this run.
        scratch: Temporary files of the Java runtime.
        password_file: The generated password, readable by its owner only.
        assembled: The digest of the lock whose jars are complete.
        lock: Held while one process starts, stops or assembles.
        users: The lock that every process holds which uses a server that is not kept.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lib, self.plugins = root / "lib", root / "plugins"
        self.conf, self.data = root / "conf", root / "data"
        self.console = root / "logs" / "console.log"
        self.password_file = root / "password"
        run = root / "run"
        self.scratch, self.assembled = run / "tmp", run / "assembled"
        self.lock, self.users = run / "lock", run / "users"
        self._state_file = run / "state.json"

    def create(self) -> None:
        """Make the directories, closed to other users of the machine.

        Raises:
            EngineError: the place cannot be written (`cannot-write`, `disk-full`).
        """
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            for path in (self.lib, self.plugins, self.conf, self.data, self.console.parent):
                path.mkdir(mode=0o700, exist_ok=True)
            self.scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise refused(error, self.root) from error

    def read_state(self) -> ServerState | None:
        """Read the state of the last process; None without a readable one."""
        try:
            return ServerState(**json.loads(self._state_file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def write_state(self, state: ServerState) -> None:
        """Replace the state at once, so that a reader never sees half of it."""
        write_private(self._state_file, json.dumps(asdict(state)))

    def read_password(self) -> str | None:
        """Read the password; None before the first start."""
        try:
            return self.password_file.read_text(encoding="ascii").strip() or None
        except FileNotFoundError:
            return None

    def new_password(self) -> str:
        """Draw a password and keep it, mode 0600."""
        password = secrets.token_hex(16)
        write_private(self.password_file, password)
        return password


def refused(error: OSError, path: Path) -> EngineError:
    """Turn the system's refusal to write into an error that names the place and the remedy."""
    if error.errno in _FULL:
        return EngineError(
            f"The disk that holds {path} is full; free some space or choose another place, and"
            " run the command again: it resumes.",
            reason="disk-full",
            path=str(path),
        )
    return EngineError(
        f"Cannot write {error.filename or path}: {error.strerror}; choose another place.",
        reason="cannot-write",
        path=str(path),
    )


def require_space(path: Path, needed: int) -> None:
    """Refuse before work that would fill the disk; `needed` in bytes.

    Raises:
        EngineError: the disk has less (reason `disk-full`).
    """
    if needed > 0 and shutil.disk_usage(path).free < needed:
        raise refused(OSError(errno.ENOSPC, ""), path)


def write_private(path: Path, text: str) -> None:
    """Write a file in one step, readable by its owner only.

    Raises:
        EngineError: the file cannot be written (`cannot-write`, `disk-full`).
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(path)
    except OSError as error:
        raise refused(error, path) from error


def files_of(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the files under a folder, by their path in it, with their sizes in bytes.

    Files and folders that Neo4j deletes meanwhile are left out.
    """
    for parent, _, names in os.walk(folder):
        for file in (Path(parent, name) for name in names):
            with contextlib.suppress(FileNotFoundError):
                yield file.relative_to(folder).as_posix(), file.stat().st_size


@contextlib.contextmanager
def held(
    path: Path, *, shared: bool = False, waiting: Callable[[], None] | None = None
) -> Iterator[None]:
    """Hold a file's lock; the system frees it when the process ends, however it ends.

    The file is created when missing and never removed. With `shared`, others who share may hold
    it too. `waiting` is called once when someone else holds it now.
    """
    mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    handle = _open_lock(path)
    try:
        try:
            fcntl.flock(handle, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting is not None:
                waiting()
            fcntl.flock(handle, mode)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def held_if_free(path: Path) -> Iterator[bool]:
    """Try to take a file's lock exclusively; tell whether that worked."""
    handle = _open_lock(path)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def _open_lock(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise refused(error, path) from error


Folder = Literal["lib", "plugins"]

_LINE = re.compile(
    r"(?P<group>[\w.-]+):(?P<artifact>[\w.-]+):(?P<version>[\w.-]+)(?::(?P<classifier>[\w.-]+))?"
    r" (?P<sha256>[0-9a-f]{64}) (?P<folder>lib|plugins)"
)
_HEADER = re.compile(r"# (?P<key>neo4j|gds|bytes) (?P<value>\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Jar:
    """One file: Maven coordinates, SHA-256, and the server folder it belongs to."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str
    folder: Folder

    @property
    def coordinate(self) -> str:
        """Name the jar as Maven does, `group:artifact:version[:classifier]`."""
        parts = (self.group, self.artifact, self.version, self.classifier)
        return ":".join(part for part in parts if part)

    @property
    def filename(self) -> str:
        """Name the file as Maven repositories do."""
        suffix = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{suffix}.jar"

    @property
    def path(self) -> PurePosixPath:
        """Place the file as Maven repositories do, relative to the repository's root."""
        return PurePosixPath(*self.group.split("."), self.artifact, self.version, self.filename)


@dataclass(frozen=True, slots=True, kw_only=True)
class JarLock:
    """All jars of one server version; `total_bytes` is their sum, `digest` names this list."""

    neo4j: str
    gds: str
    total_bytes: int
    jars: tuple[Jar, ...]
    digest: str


def parse_lock(text: str) -> JarLock:
    """Read a lock; its headers are `# neo4j V`, `# gds V`, `# bytes N`, its lines are jars.

    Raises:
        EngineError: a line is not understood, or a header is missing (reason `bad-lock`).
    """
    headers: dict[str, str] = {}
    jars: list[Jar] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.fullmatch(line):
            headers[header["key"]] = header["value"]
        elif match := _LINE.fullmatch(line):
            jars.append(
                Jar(
                    group=match["group"],
                    artifact=match["artifact"],
                    version=match["version"],
                    classifier=match["classifier"] or "",
                    sha256=match["sha256"],
                    folder="lib" if match["folder"] == "lib" else "plugins",
                )
            )
        else:
            raise EngineError(f"jars.lock, line {number} is not a jar", reason="bad-lock")
    if missing := {"neo4j", "gds", "bytes"} - headers.keys():
        raise EngineError(f"jars.lock lacks {', '.join(sorted(missing))}", reason="bad-lock")
    return JarLock(
        neo4j=headers["neo4j"],
        gds=headers["gds"],
        total_bytes=int(headers["bytes"]),
        jars=tuple(jars),
        digest=hashlib.sha256(text.encode()).hexdigest(),
    )


def packaged_lock() -> JarLock:
    """Read the lock that this release was tested with."""
    text = resources.files("ecphoria.engine").joinpath("jars.lock").read_text(encoding="utf-8")
    return parse_lock(text)
