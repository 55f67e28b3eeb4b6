"""The two tools that ChatGPT's connectors and deep research call."""

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from ecphoria.mcp.answers import NAME, PREVIEW, clipped, shared
from ecphoria.mcp.tools import Connect, Id
from ecphoria.records.episode import Episode


class Result(BaseModel):
    """A memory that was found."""

    id: str
    title: str
    url: str


class Results(BaseModel):
    """The memories that were found."""

    results: list[Result]


class Document(BaseModel):
    """A memory with its text."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


class Searches:
    """The tools of the profile `openai`: each answers with one text that is JSON."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect

    async def search(
        self,
        context: Context,
        query: Annotated[str, Field(max_length=10_000, description="The question.")],
    ) -> CallToolResult:
        """Search the memory of earlier conversations and documents."""
        async with self._connect(context) as client:
            found = await client.recall(query, k=10, token_budget=50)
        results = [
            Result(id=hit.episode.id, title=_title(hit.episode), url=_url(hit.episode))
            for hit in found.hits
        ]
        data = Results(results=results)
        return _as_text(data)

    async def fetch(self, context: Context, id: Id) -> CallToolResult:  # noqa: A002 (named by the profile)
        """Fetch a memory by its id."""
        async with self._connect(context) as client:
            episode = await client.get(id)
        ((text, _),) = shared([episode.text], 0)
        known = {
            "occurred_at": episode.occurred_at.isoformat(),
            "speaker": episode.speaker,
            "session": episode.session,
            "source": episode.source,
        }
        data = Document(
            id=episode.id,
            title=_title(episode),
            text=text,
            url=_url(episode),
            metadata={name: clipped(one, NAME) for name, one in known.items() if one},
        )
        return _as_text(data)


def _as_text(data: BaseModel) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=data.model_dump_json())])


def _title(episode: Episode) -> str:
    return clipped(episode.title or episode.text, PREVIEW)


def _url(episode: Episode) -> str:
    return f"memory://episode/{episode.id}"
