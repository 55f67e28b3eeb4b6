"""Fetches single jars from a Maven repository, without Maven."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from ecphoria.engine.home import refused
from ecphoria.engine.lock import Jar
from ecphoria.errors import EngineError

__all__ = ["Fetch", "maven_fetch"]

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
            'The managed Neo4j needs the extra "local": pip install "ecphoria[local]"',
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
