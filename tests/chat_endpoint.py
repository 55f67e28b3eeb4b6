"""A local server that speaks OpenAI's `/v1/chat/completions`; tests say how it behaves."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from tests.local_server import local_server

__all__ = ["ChatEndpoint", "chat_endpoint", "fenced", "first_and_last", "obliging", "summary"]


def first_and_last(text: str) -> str:
    """Say the first turn and the last again, as a model that obeys may."""
    turns = sorted(fenced(text).items())
    said = [(number, re.sub(r"^[^:]+: ", "", line)) for number, line in (turns[0], turns[-1])]
    return summary(*((line, [number]) for number, line in said))


def summary(*sentences: tuple[str, list[int]]) -> str:
    """Write sentences and the turns they rest on as the service asks for them."""
    return json.dumps({"sentences": [{"text": text, "turns": turns} for text, turns in sentences]})


def fenced(text: str) -> dict[int, str]:
    """Read the numbered lines of a prompt between its marks: memories or turns."""
    opened = re.match(r"<(\w+ \d{15})>\n(.*?)\n</\1>", text, re.DOTALL)
    body = opened[2] if opened else ""
    return {int(n): line for n, line in re.findall(r"^\[(\d+)\] (.*)$", body, re.MULTILINE)}


def obliging(text: str) -> str:
    """Answer any prompt of the service, with words of what it shows."""
    shown = fenced(text)
    if text.startswith("<turns "):
        return json.dumps(_names_and_facts(shown))
    if not text.startswith("<memories "):
        return first_and_last(text)
    number = min(shown)
    said = re.sub(r"^\d{4}-\d\d-\d\d (?:[^:]+: )?", "", shown[number])
    quote = " ".join(said.split()[:4])
    sentence = {"text": f"{said}.", "citations": [{"memory": number, "quote": quote}]}
    return json.dumps({"sentences": [sentence]})


def _names_and_facts(shown: dict[int, str]) -> dict[str, object]:
    """Name the first two words of each turn, and state two facts of them."""
    names, facts = [], []
    for number, line in shown.items():
        said = re.sub(r"^\d{4}-\d\d-\d\d (?:[^:]+: )?", "", line).split()
        name, quote = " ".join(said[:2]), " ".join(said[:4])
        names.append({"turn": number, "name": name, "kind": "person"})
        facts += [
            {
                "turn": number, "subject": name, "predicate": "is told with", "object": other,
                "qualifier": "", "negated": False, "valid_from": "", "valid_to": "",
                "quote": quote,
            }
            for other in (" ".join(said[2:4]), "Trieste")
        ]  # fmt: skip
    return {"names": names, "facts": facts}


@dataclass(slots=True)
class ChatEndpoint:
    """How it answers, and what it was asked."""

    url: str = ""
    says: Callable[[str], str | None] = first_and_last
    statuses: list[int] = field(default_factory=list)
    delay: float = 0.0
    body: bytes | None = None
    counts: bool = True
    finish: str = "stop"
    streams: bool = True
    breaks_after: int | None = None
    pauses: float = 0.0
    drips: bool = False
    piece: int = 7
    headers: dict[str, str] = field(default_factory=dict)
    instead: Callable[[str], Response | None] = lambda _: None
    refuses: frozenset[str] = frozenset()
    requests: list[dict[str, object]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        """Answer one request."""
        asked = await request.json()
        self.requests.append(asked)
        self.keys.append(request.headers.get("authorization"))
        await asyncio.sleep(self.delay)
        if (failure := self._failure(asked)) is not None:
            return failure
        if asked.get("stream"):
            if not self.streams:
                return JSONResponse({"error": {"message": "no stream"}}, status_code=400)
            text = self.says(asked["messages"][-1]["content"]) or ""
            return StreamingResponse(self._stream(text), media_type="text/event-stream")
        message = {"role": "assistant", "content": self.says(asked["messages"][-1]["content"])}
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        usage = {"prompt_tokens": 70, "completion_tokens": 7, "total_tokens": 77}
        told = {"usage": usage} if self.counts else {}
        body = {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], **told}
        sent = self._drip(json.dumps(body))
        return (
            StreamingResponse(sent, media_type="application/json")
            if self.drips
            else JSONResponse(body)
        )

    def _failure(self, asked: dict[str, Any]) -> Response | None:
        """Answer with what a test says instead; None to answer as a model does."""
        if (other := self.instead(asked["messages"][-1]["content"])) is not None:
            return other
        if self.statuses:
            error = {"error": {"message": "the text was: PRIVATE"}}
            return JSONResponse(error, status_code=self.statuses.pop(0), headers=self.headers)
        if asked.get("response_format", {}).get("type") in self.refuses:
            return JSONResponse({"error": {"message": "no such form"}}, status_code=400)
        if self.body is not None:
            return Response(self.body, media_type="text/html", headers=self.headers)
        return None

    async def _drip(self, text: str) -> AsyncIterator[str]:
        """Send a character at a time, with a pause after each."""
        for character in text:
            await asyncio.sleep(self.pauses)
            yield character

    async def _stream(self, text: str) -> AsyncIterator[str]:
        """Send the text in pieces; the connection may break on the way."""
        for number, start in enumerate(range(0, len(text), self.piece)):
            if number == self.breaks_after:
                raise ConnectionAbortedError
            await asyncio.sleep(self.pauses)
            yield _event([{"index": 0, "delta": {"content": text[start : start + self.piece]}}])
        yield _event([{"index": 0, "delta": {}, "finish_reason": self.finish}])
        if self.counts:
            yield _event([], {"prompt_tokens": 70, "completion_tokens": 7, "total_tokens": 77})
        yield "data: [DONE]\n\n"


def _event(choices: list[dict[str, object]], usage: dict[str, int] | None = None) -> str:
    told = {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": choices}
    return f"data: {json.dumps(told | ({'usage': usage} if usage else {}))}\n\n"


@contextmanager
def chat_endpoint() -> Iterator[ChatEndpoint]:
    """Serve one in a thread, on a free port."""
    endpoint = ChatEndpoint()
    app = FastAPI()
    app.add_api_route(
        "/v1/chat/completions", endpoint.answer, methods=["POST"], response_model=None
    )
    with local_server(app) as url:
        endpoint.url = f"{url}/v1"
        yield endpoint
