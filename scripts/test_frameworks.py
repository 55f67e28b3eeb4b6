"""Test the adapters for agent frameworks, each in an environment of its own against the library.

Their requirements exclude each other, so none is in `.venv`. The environments are kept under
`.venv/frameworks`. A service of its own, with a local Neo4j, serves all of them.

    python -m scripts.test_frameworks [NAME ...]
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx

from ecphoria.client import Client
from scripts.archive_classes import quick_java

ROOT = Path(__file__).parents[1]
VENV = ROOT / ".venv"
UV = own if (own := VENV / "bin" / "uv").exists() else Path("uv")
FRAMEWORKS = {
    "langchain": ("langchain", "langchain-tests>=1,<2"),
    "langgraph": ("langgraph",),
    "openai_agents": ("openai-agents",),
    "llama_index": ("llama-index",),
    "google_adk": ("google-adk",),
    "neo4j_graphrag": ("graphrag",),
}
"""Extra of each framework, and what its tests need besides."""
_TESTS = ("pytest>=8.4", "pytest-asyncio>=1", "pytest-timeout>=2.4", "markdown-it-py")
_ENGINE = {"ECPHORIA_ENGINE__HEAP_MB": "512", "ECPHORIA_ENGINE__JAVA_OPTIONS": quick_java()}
_SLOW = {"UV_COMPILE_BYTECODE", "PYTHONDONTWRITEBYTECODE"}
"""Few modules of an environment are read, so each is compiled when it is read first."""
_AT_ONCE = 2
_START_S = 600
"""Its start takes minutes where the tests on Neo4j have both cores."""


def main(wanted: Sequence[str]) -> int:
    """Test the frameworks with these names, all by default; 0 if every test passes."""
    names = list(wanted) or list(FRAMEWORKS)
    if unknown := set(names) - set(FRAMEWORKS):
        print(f"there is no framework {min(unknown)}; there are {', '.join(FRAMEWORKS)}")
        return 2
    with (
        tempfile.TemporaryDirectory(prefix="ecphoria-") as home,
        _service(Path(home)) as environment,
    ):
        failed = _test_all(names, environment, _AT_ONCE)
        if failed:
            print(f"Once more, one at a time: {', '.join(failed)}", flush=True)
            failed = _test_all(failed, environment, 1)
    print(f"failed: {', '.join(failed)}" if failed else f"{len(names)} frameworks work")
    return 1 if failed else 0


def _test_all(names: Sequence[str], environment: dict[str, str], at_once: int) -> list[str]:
    """Test the frameworks with these names and print the results; gives names that failed."""
    begun = time.monotonic()
    failed = []
    with ThreadPoolExecutor(at_once) as pool:
        results = pool.map(lambda name: _test(name, environment), names)
        for name, (code, output) in zip(names, results, strict=True):
            print(f"{name} ({time.monotonic() - begun:.0f} s)\n{output}", flush=True)
            failed += [name] if code else []
    return failed


@contextmanager
def _service(home: Path) -> Iterator[dict[str, str]]:
    """Serve until the block ends; gives the environment of a caller."""
    machine = dict(os.environ)  # noqa: TID251 (what the commands inherit)
    inherited = {
        name: value
        for name, value in machine.items()
        if "ECPHORIA" not in name and name not in _SLOW
    }
    cache = {name: value for name, value in machine.items() if name == "ECPHORIA_CACHE"}
    told = home / "service.log"
    with told.open("w") as log:
        service = subprocess.Popen(  # noqa: S603
            [VENV / "bin" / "ecphoria", "serve", "--home", home, "--port", "0"],
            env=inherited | cache | _ENGINE,
            stdout=log,
            stderr=log,
        )
    try:
        url = _address(service, told)
        key = (home / "admin.key").read_text().strip()
        _warm(url, key)
        yield inherited | {"ECPHORIA_URL": url, "ECPHORIA_API_KEY": key}
    finally:
        service.terminate()
        service.wait(timeout=60)


def _address(service: "subprocess.Popen[bytes]", told: Path) -> str:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and service.poll() is None:
        for word in told.read_text().split():
            if word.startswith("http://127.0.0.1:"):
                url = word.rstrip("/.,;")
                if httpx.get(f"{url}/readyz").is_success:
                    return url
        time.sleep(0.2)
    raise SystemExit(f"the service did not start:\n{told.read_text()}")


def _warm(url: str, key: str) -> None:
    """Do once what the tests do.

    Neo4j plans each query when it is asked first. On a busy machine this takes longer than the 30
    seconds that a client of an adapter waits.
    """
    with Client(url, api_key=key, tenant="warm-up", timeout=_START_S) as client:
        client.admin.create_tenant("warm-up")
        client.remember("I moved to Trieste in March.", session="spring")
        client.recall("Where do I live?")
        client.admin.erase_tenant("warm-up")


def _test(name: str, environment: dict[str, str]) -> tuple[int, str]:
    place = VENV / "frameworks" / name
    extra, *besides = FRAMEWORKS[name]
    python = place / "bin" / "python"
    commands: list[list[str | Path]] = [
        [UV, "venv", "-q", "--allow-existing", place],
        [UV, "pip", "install", "-q", "--python", python, "-e",
         f"{ROOT}[{extra}]", *besides, *_TESTS],
        [python, "-m", "pytest", "-q", "--confcutdir", "tests/frameworks", "-W", "default",
         "-p", "no:cacheprovider", "--disable-warnings",
         f"tests/frameworks/test_{name}.py", "tests/frameworks/test_page.py"],
    ]  # fmt: skip
    told = ""
    for command in commands:
        done = subprocess.run(  # noqa: S603
            command, cwd=ROOT, env=environment | {"ECPHORIA_FRAMEWORK": name}, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        told += done.stdout
        if done.returncode:
            return done.returncode, told
    return 0, told


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
