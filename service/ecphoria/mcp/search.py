"""The two tools that ChatGPT's connectors and deep research call."""

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from ecphoria.mcp.answers import Memory, heading, memories_of, recalled_of
from ecphoria.mcp.texts import LEAST, clipped
from ecphoria.mcp.tools import Connect, Id


class Result(BaseModel):
    """A memory that was found."""

    id: str
    title: str
    url: str


class Results(BaseModel):
    """The memories that were found."""

    results: list[Result]
    says: str
    """Whether they hold the answer."""


class Document(BaseModel):
    """A memory with its text."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


class Searches:
    """The tools of the profile `openai`: the text of an answer is its data as JSON."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect

    async def search(
        self,
        context: Context,
        query: Annotated[str, Field(max_length=10_000, description="The question.")],
    ) -> CallToolResult:
        """Search the memory of earlier conversations and documents."""
        async with self._connect(context) as client:
            found = await client.recall(query)
        data = recalled_of(found)
        known: list[Memory] = [*data.hits, *data.misses]
        results = [Result(id=one.id, title=_title(one), url=_url(one.id)) for one in known]
        return _in_both_forms(Results(results=results, says=data.says))

    async def fetch(self, context: Context, id: Id) -> CallToolResult:  # noqa: A002 (named by the profile)
        """Fetch a memory by its id."""
        async with self._connect(context) as client:
            episode = await client.get(id)
        (memory,) = memories_of([episode])
        known = {
            "occurred_at": episode.occurred_at.isoformat(),
            "speaker": memory.speaker,
            "role": memory.role,
            "session": memory.session,
            "source": memory.source,
            "shown": f"the first {len(memory.text)} of {len(episode.text)} characters"
            if memory.truncated
            else None,
        }
        data = Document(
            id=episode.id,
            title=_title(memory),
            text=memory.text,
            url=_url(episode.id),
            metadata={name: one for name, one in known.items() if one},
        )
        return _in_both_forms(data)


def _in_both_forms(data: BaseModel) -> CallToolResult:
    content = TextContent(type="text", text=data.model_dump_json())
    return CallToolResult(content=[content], structured_content=data.model_dump(mode="json"))


def _title(memory: Memory) -> str:
    return f"{heading(memory)}: {clipped(memory.text, LEAST)}"


def _url(ident: str) -> str:
    return f"memory://episode/{ident}"
