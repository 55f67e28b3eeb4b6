"""A Maven repository and a Java that exist only here."""

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path

from ecphoria.engine.home import Jar, JarLock

FAKE_JAVA = """#!/bin/sh
case "$*" in
--list-modules) printf '%s\n' {modules}; exit 0 ;;
*AdminTool*) for last; do :; done; cat "${{last#@}}" > "$NEO4J_HOME/password.seen"; exit 0 ;;
esac
mkdir -p "$NEO4J_HOME/data/databases/system"
trap 'echo Stopped.; exit 0' TERM
{behaviour}
while :; do sleep 0.02; done
"""
STARTS = "echo 'INFO  Started.'"


def write_java(
    path: Path, *, modules: str = "java.base@21.0.4 java.xml@21.0.4", behaviour: str = STARTS
) -> Path:
    path.write_text(FAKE_JAVA.format(modules=modules, behaviour=behaviour))
    path.chmod(0o755)
    return path


def jar_content(name: str) -> bytes:
    return f"the content of {name}".encode()


def make_lock(*names: str) -> JarLock:
    jars = tuple(
        Jar(
            group="org.example",
            artifact=name,
            version="1.0",
            classifier="",
            sha256=hashlib.sha256(jar_content(name)).hexdigest(),
            folder="plugins" if name.startswith("gds") else "lib",
        )
        for name in names
    )
    return JarLock(
        neo4j="2026.01.4",
        gds="2.26.0",
        total_bytes=sum(len(jar_content(name)) for name in names),
        jars=jars,
        digest="-".join(names),
    )


class Repository:
    """Serves jars from memory; `altered` ones come with other bytes, `failing` raise."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.altered: set[str] = set()
        self.failing: dict[str, Exception] = {}
        self._guard = threading.Lock()

    def fetch(self, jar: Jar, repository: Path, received: Callable[[int], None]) -> None:
        with self._guard:
            self.asked.append(jar.artifact)
        if error := self.failing.get(jar.artifact):
            raise error
        content = jar_content(jar.artifact)
        if jar.artifact in self.altered:
            content += b"!"
        path = repository / jar.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        received(len(content))
