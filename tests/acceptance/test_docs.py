"""The code blocks of README, quickstart and how-to pages, run as they are written.

The blocks of a page run in their order, in one folder, against one service with a local Neo4j and
the key of a first start. A comment `<!-- not run: WHY -->` before a block leaves it out.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from ecphoria import Client
from ecphoria.errors import Conflict
from ecphoria.settings import LlmSettings, ServerSettings, Settings
from scripts.archive_classes import with_schema
from tests.acceptance.conftest import running
from tests.chat_endpoint import chat_endpoint, obliging
from tests.conftest import CACHE, SMALL_ENGINE, SMALL_ENGINE_VARIABLES

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "quickstart.md",
    *sorted((ROOT / "docs" / "howto").glob("*.md")),
]
SHELL, CONSOLE, PYTHON = {"sh", "bash"}, "console", "python"
NOT_RUN = re.compile(r"<!-- not run: (.+) -->")
REASONS = {
    "it has a test of its own",
    "it needs a bucket",
    "it needs a cluster",
    "it needs a language model",
    "it needs an embedding endpoint",
    "it needs an export of yours",
    "it needs judged questions",
    "it needs the root of a checkout",
    "it names one of your ids",
    "it runs until it is stopped",
    "it takes minutes",
}
MEMORIES = ("Ana moved to Oslo in May.", "The spare key is with Bo.", "Cleo plays the cello.")


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    line: int
    not_run: str | None


@dataclass(frozen=True)
class Reader:
    """Somebody who follows a page: a folder, and the environment of a shell."""

    folder: Path
    environment: dict[str, str]

    def run(self, block: Block) -> None:
        if block.language == PYTHON:
            command = [sys.executable, "-c", block.code]
        else:
            command = ["bash", "-euo", "pipefail", "-c", block.code]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, check=False, timeout=180,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert done.returncode == 0, f"line {block.line}:\n{block.code}\n{done.stdout}"


def blocks(text: str) -> Iterator[Block]:
    """Find the blocks to run; of a console, what was typed."""
    reason = None
    for token in MarkdownIt().parse(text):
        if token.type == "html_block":
            found = NOT_RUN.fullmatch(token.content.strip())
            reason = found[1] if found else None
        elif token.type == "fence":
            language, code = token.info.strip(), token.content
            if language == CONSOLE:
                typed = re.findall(r"^\$ ((?:.*\\\n)*.*)$", code, flags=re.MULTILINE)
                code = "\n".join(typed) + "\n"
            if language in {*SHELL, CONSOLE, PYTHON}:
                assert token.map is not None
                yield Block(language=language, code=code, line=token.map[0] + 1, not_run=reason)
            reason = None


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    home = tmp_path_factory.mktemp("home")
    with_schema(home / "engine")
    folder = tmp_path_factory.mktemp("reader")
    with_schema(folder / "other-home" / "engine")  # "Move a tenant"; a backup has a new home
    with_schema(folder / "home")  # "Run the local Neo4j"
    (folder / "cache").symlink_to(CACHE)  # a page may name a cache; it need not be filled again
    with chat_endpoint() as model:
        model.says = obliging
        yield from _reading(home, folder, LlmSettings(model="scripted", base_url=model.url))


def _reading(home: Path, folder: Path, llm: LlmSettings) -> Iterator[Reader]:
    settings = Settings(
        home=home, llm=llm, cache=CACHE, engine=SMALL_ENGINE, server=ServerSettings(port=0)
    )
    with running(settings) as service:
        machine = dict(os.environ)  # noqa: TID251 (what the commands inherit)
        environment = {
            **{name: value for name, value in machine.items() if "ECPHORIA" not in name},
            "PATH": f"{Path(sys.executable).parent}:{machine['PATH']}",
            **SMALL_ENGINE_VARIABLES,
            "ECPHORIA_HOME": str(home),
            "ECPHORIA_URL": service.url,
        }
        key = (home / "admin.key").read_text().strip()
        with Client(service.url, key, tenant="default") as client:
            for text in MEMORIES:
                client.remember(text)
        yield Reader(folder=folder, environment=environment)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run_as_written(page: Path, reader: Reader) -> None:
    found = list(blocks(page.read_text(encoding="utf-8")))
    assert {block.not_run for block in found} - {None} <= REASONS
    to_run = [block for block in found if block.not_run is None]
    if not to_run:
        pytest.skip("no block to run")
    if page.parent.name == "howto":  # the quickstart makes it
        _create_acme(reader.environment)
    if any("curl" in block.code for block in to_run) and shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    for block in to_run:
        reader.run(block)


def _create_acme(environment: dict[str, str]) -> None:
    key = (Path(environment["ECPHORIA_HOME"]) / "admin.key").read_text().strip()
    with Client(environment["ECPHORIA_URL"], key, tenant="acme") as client, suppress(Conflict):
        client.admin.create_tenant("acme")
        for text in MEMORIES:
            client.remember(text)


CURLS = [
    (page, block)
    for page in PAGES
    for block in blocks(page.read_text(encoding="utf-8"))
    if "/v1/" in block.code and "curl" in block.code
]


@pytest.mark.parametrize(
    ("page", "block"), CURLS, ids=[f"{page.stem}-{block.line}" for page, block in CURLS]
)
def test_a_curl_with_the_key_of_a_first_start_names_its_tenant(page: Path, block: Block) -> None:
    calls = [call for call in block.code.split("curl ")[1:] if "/v1/" in call]
    assert all("Ecphoria-Tenant: " in call for call in calls), page.name


def test_blocks_are_found_and_a_console_gives_what_was_typed() -> None:
    text = (
        "<!-- not run: it takes minutes -->\n\n```sh\nsleep 600\n```\n\n"
        "```console\n$ echo a \\\n    b\na b\n$ echo c\nc\n```\n\n```json\n{}\n```\n\n"
        "```python\nprint(1)\n```\n"
    )
    assert [(block.language, block.code, block.not_run) for block in blocks(text)] == [
        ("sh", "sleep 600\n", "it takes minutes"),
        ("console", "echo a \\\n    b\necho c\n", None),
        ("python", "print(1)\n", None),
    ]
