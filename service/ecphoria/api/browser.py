"""Serve the style and the saved queries for Neo4j Browser."""

from pathlib import Path

from fastapi import APIRouter, Response
from starlette.concurrency import run_in_threadpool

from ecphoria.api.guard import Served
from ecphoria.api.problems import responses
from ecphoria.errors import EcphoriaError, InvalidInput, NotFound
from ecphoria.wire.administration import BrowserFileAnswer

__all__ = ["router"]

router = APIRouter(tags=["browser"])


@router.get("/v1/browser")
async def list_files(services: Served) -> list[BrowserFileAnswer]:
    """List the files for Neo4j Browser: a GraSS style and saved queries. Needs no key."""
    return await run_in_threadpool(_listed, services.browser)


@router.get(
    "/browser-guide/{file}",
    response_class=Response,
    responses={
        **responses(NotFound, InvalidInput, EcphoriaError),
        200: {"content": {"text/plain": {}}},
    },
)
async def get_file(file: str, services: Served) -> Response:
    """Fetch a file to drop on Neo4j Browser or to paste into it. Needs no key."""
    return Response(
        await run_in_threadpool(_read, services.browser, file),
        media_type="text/plain; charset=utf-8",
        headers={"Access-Control-Allow-Origin": "*"},  # Neo4j Browser has another origin
    )


def _files(folder: Path) -> dict[str, Path]:
    return {
        file.name: file
        for file in sorted(folder.iterdir())
        if file.suffix in {".cypher", ".grass"}
    }


def _listed(folder: Path) -> list[BrowserFileAnswer]:
    return [
        BrowserFileAnswer(name=name, doc=_doc(file), href=f"/browser-guide/{name}")
        for name, file in _files(folder).items()
    ]


def _read(folder: Path, name: str) -> str:
    file = _files(folder).get(name)
    if file is None:
        raise NotFound("There is no such file; `GET /v1/browser` lists those there are.")
    return file.read_text(encoding="utf-8")


def _doc(file: Path) -> str:
    """Read a file's first line, which is a comment that says what it shows."""
    first = file.read_text(encoding="utf-8").partition("\n")[0]
    return first.strip("/* ").removeprefix("doc:").strip()
