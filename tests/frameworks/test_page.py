"""The Python blocks of a framework's page run as they are written, in their order."""

import os
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from ecphoria.client import Client

PAGES = Path(__file__).parents[2] / "docs" / "howto" / "frameworks"
NOT_RUN = "<!-- not run: it needs a language model -->"


def test_the_blocks_of_the_page_run(memory: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    name = os.environ["ECPHORIA_FRAMEWORK"].replace("_", "-")  # noqa: TID251
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    monkeypatch.setenv("ECPHORIA_TENANT", _tenant_of(memory))
    page: dict[str, object] = {"__name__": name}
    skip, run = False, 0
    for token in MarkdownIt().parse(text):
        if token.type == "html_block":
            skip = token.content.strip() == NOT_RUN
        elif token.type == "fence":
            if re.match(r"python\b", token.info) and not skip:
                exec(compile(token.content, f"{name}.md", "exec"), page)  # noqa: S102
                run += 1
            skip = False
    assert run, "the page shows nothing that runs"


def _tenant_of(memory: Client) -> str:
    return memory._connection._connections.here().headers["Ecphoria-Tenant"]
