"""The list of jars that make up the server, each with the only content it may have."""

import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePosixPath
from typing import Literal

from ecphoria.errors import EngineError

__all__ = ["Jar", "JarLock", "packaged_lock", "parse_lock"]

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
