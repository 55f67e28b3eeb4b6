"""The agents of the page, run as they stand, against endpoints that speak each provider's API."""

import json
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from fastapi import FastAPI

from tests.acceptance.conftest import Owner
from tests.local_server import local_server

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "agent.md"
REPLY = "Your sister Lena lives in Ghent."


def agent(provider: str) -> str:
    """Read the code of a tab of the page."""
    tab = PAGE.read_text().split(f'=== "{provider}"')[1]
    found = re.search(r"```python\n(.*?)\n    ```", tab, re.DOTALL)
    assert found
    return dedent(found[1])


class Provider:
    """Answers every message alike, and keeps the requests."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.app = FastAPI()
        self.app.post("/v1/chat/completions")(self.completion)
        self.app.post("/v1/messages")(self.message)

    async def completion(self, body: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(body)
        message = {"role": "assistant", "content": REPLY}
        return {
            "id": "1", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }  # fmt: skip

    async def message(self, body: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(body)
        return {
            "id": "1", "type": "message", "role": "assistant", "model": body["model"],
            "content": [{"type": "text", "text": REPLY}], "stop_reason": "end_turn",
            "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip


@pytest.mark.parametrize(
    ("provider", "variables"),
    [
        ("openai", {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "k"}),
        ("anthropic", {"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": "k"}),
    ],
)
def test_the_agent_remembers_what_was_said_in_an_earlier_run(
    owner: Owner, provider: str, variables: dict[str, str]
) -> None:
    endpoint = Provider()
    with local_server(endpoint.app) as url:
        environment = {
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": ":".join(sys.path),
            "ECPHORIA_URL": str(owner.base_url),
            "ECPHORIA_API_KEY": owner.key,
            **{name: value.format(url=url) for name, value in variables.items()},
        }
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, "-c", agent(provider)],
                env=environment, capture_output=True, text=True, check=False, timeout=120,
            )  # fmt: skip
            assert (done.stdout, done.returncode) == (f"{REPLY}\n", 0), done.stderr
    first, second = endpoint.asked
    assert "<memories" not in first["messages"][-1]["content"]
    assert "My sister Lena moved to Ghent." in second["messages"][-1]["content"]
    # The rules explain the marks; the second run starts with what the first one stored.
    assert " user: My sister Lena moved to Ghent." in json.dumps(second)
    roles = [one["role"] for one in owner.get("/v1/episodes").json()["items"]]
    assert sorted(roles) == ["assistant", "assistant", "user", "user"]
