"""The connection of the asynchronous client, and its calls that look after a memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from time import monotonic
from types import TracebackType
from typing import Protocol, Self, TypeVar

import httpx
from httpx_sse import EventSource

from ecphoria import records, wire
from ecphoria.client.connections import AsyncConnections
from ecphoria.client.exchange import (
    Call,
    Parameter,
    Retries,
    body_of,
    error_of,
    failure_of,
    filters_of,
    late,
    segment,
    unreachable,
)
from ecphoria.records.answered import adapter
from ecphoria.wire.base import Problem, Request, error_from

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 1.0
_ERASURE_S = 300.0
_Read = TypeVar("_Read")


class _Page(Protocol):
    """One page of a list."""

    @property
    def next_cursor(self) -> Parameter:
        """Give the `cursor` of the next page; None on the last."""


_PageOf = TypeVar("_PageOf", bound=_Page)


class AsyncConnection:
    """Send calls over one connection, again where that is safe, and read the answers."""

    def __init__(
        self, base_url: str, connect: Callable[[], httpx.AsyncClient], retries: Retries
    ) -> None:
        """Connect at the first call.

        Args:
            base_url: Address of the service.
            connect: Opens connections. They serve one process, and one event loop if
                asynchronous; in another, new ones are opened.
            retries: How often a call is sent again.
        """
        self._base_url = base_url
        self._connections = AsyncConnections(connect)
        self._retries = retries

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections; also done at the end of an `async with` block."""
        connection = self._connections.close()
        if connection is not None:
            await connection.aclose()

    async def _ask(
        self,
        answer_type: type[_Read],
        method: str,
        path: str,
        body: Request | None = None,
        *,
        parameters: Mapping[str, Parameter] | None = None,
        repeatable: bool = True,
        timeout_s: float | None = None,
    ) -> _Read:
        """Send the `Call` of these arguments, and read its answer."""
        call = Call(
            method,
            path,
            body=body,
            parameters=parameters or {},
            repeatable=repeatable,
            timeout_s=timeout_s,
        )
        read: _Read = adapter(answer_type).validate_json((await self._send(call)).content)
        return read

    async def _pages(
        self, page_type: type[_PageOf], path: str, **parameters: Parameter
    ) -> AsyncIterator[_PageOf]:
        """Fetch a list, one page after the other."""
        cursor: Parameter = None
        while True:
            page = await self._ask(
                page_type, "GET", path, parameters={"cursor": cursor, **parameters}
            )
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return

    async def _events(self, call: Call) -> AsyncIterator[tuple[str, str]]:
        """Send a call once, and read the names and data of the events that it is answered with.

        Raises:
            EcphoriaError: No answer, another answer, or an event `problem`.
        """
        try:
            async with self._connections.here().stream(
                call.method,
                call.path,
                headers=call.headers(),
                content=call.content(),
                timeout=call.timeout_s or httpx.USE_CLIENT_DEFAULT,
            ) as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise error_of(answer)
                async for event in EventSource(answer).aiter_sse():
                    if event.event == "problem":
                        raise error_from(Problem.model_validate_json(event.data))
                    yield event.event, event.data
        except httpx.TransportError as error:
            raise unreachable(self._base_url, error) from error

    async def _send(self, call: Call) -> httpx.Response:
        """Send a call until it succeeds, or until `Retries` allows no further attempt."""
        attempt = 0
        while True:
            answer, cause = None, None
            try:
                answer = await self._connections.here().request(
                    call.method,
                    call.path,
                    params=call.query(),
                    headers=call.headers(),
                    content=call.content(),
                    timeout=call.timeout_s or httpx.USE_CLIENT_DEFAULT,
                )
            except httpx.TransportError as error:
                cause = error
                failure = unreachable(self._base_url, error)
            else:
                if answer.is_success:
                    return answer
                failure = error_of(answer)
            if not self._retries.allow(call, attempt, failure):
                raise failure from cause
            await asyncio.sleep(self._retries.pause_s(attempt, answer))
            attempt += 1


class AsyncCalls:
    """Calls about one subject, over a connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._ask = connection._ask  # noqa: SLF001


class AsyncUpkeep(AsyncConnection):
    """Calls that look after a memory: jobs, consolidation, dormancy, archive, merges."""

    async def consolidate(
        self,
        *,
        steps: Sequence[str] = (),
        dry_run: bool = False,
        timeout_s: float = 600.0,
        watch: Callable[[wire.upkeep.JobAnswer], object] | None = None,
    ) -> records.job.ConsolidationReport:
        """Run a consolidation cycle, wait for it, and return its report.

        Running it again changes nothing, so a call that was cut short can simply be repeated.

        Args:
            steps: Which steps to run; all if empty.
            dry_run: Tell what would change, and write nothing.
            timeout_s: Longest to wait for the end; it takes longer the larger the memory.
            watch: Told how the job stands, each time it is asked for.
        """
        queued = await self.start_consolidation(steps=steps, dry_run=dry_run)
        done = await self.wait_for_job(queued.id, timeout_s=timeout_s, watch=watch)
        assert done.report is not None, "a job that is done has a report"
        return done.report

    async def start_consolidation(
        self, *, steps: Sequence[str] = (), dry_run: bool = False
    ) -> wire.upkeep.JobAnswer:
        """Queue a cycle of consolidation, or join the waiting one, without waiting for its end.

        Args:
            steps: Which steps to run; all if empty.
            dry_run: Tell what would change, and write nothing.
        """
        wanted = body_of(wire.upkeep.ConsolidationRequest, steps=tuple(steps), dry_run=dry_run)
        return await self._ask(wire.upkeep.JobAnswer, "POST", "/v1/consolidation", wanted)

    async def erase(
        self,
        *,
        session: str | None = None,
        speaker: str | None = None,
        occurred_from: datetime | None = None,
        occurred_before: datetime | None = None,
        exclude: Sequence[str] = (),
        sessions: Sequence[str] = (),
        role: str | None = None,
        metadata: Mapping[str, records.episode.MetadataCondition] | None = None,
        dry_run: bool = False,
        watch: Callable[[int, int], object] = lambda _erased, _matched: None,
    ) -> int:
        """Erase the episodes that pass all filters given; needs at least one besides `exclude`.

        If it fails halfway, what was erased stays so; call it again for the rest.

        Args:
            session: Only this session.
            speaker: Only what this speaker said.
            occurred_from: Nothing earlier.
            occurred_before: Nothing at or after this instant.
            exclude: Ids of episodes to keep; at most 1,000.
            sessions: Only these sessions; at most 100.
            role: Only what speakers of this role said.
            metadata: Only episodes whose metadata meet these conditions: values to
                equal, or comparisons such as `{"$gte": 4}`.
            dry_run: Only count.
            watch: Told how many are erased, and how many there were.

        Returns:
            How many were erased, or would be.
        """
        wanted = body_of(
            wire.episodes.EraseRequest,
            filters=filters_of(
                session=session,
                speaker=speaker,
                occurred_from=occurred_from,
                occurred_before=occurred_before,
                exclude=exclude,
                sessions=sessions,
                role=role,
                metadata=metadata,
            ),
            dry_run=dry_run,
        )
        erased = 0
        while True:
            answer = await self._ask(
                wire.episodes.EraseAnswer,
                "POST",
                "/v1/episodes/erase",
                wanted,
                timeout_s=_ERASURE_S,
            )
            if dry_run:
                return answer.matched
            watch(erased + answer.erased, erased + answer.matched)
            erased += answer.erased
            if answer.erased in {0, answer.matched}:
                return erased

    async def reset_extraction(self) -> None:
        """Have the step `extract` read every live episode again; results stay until replaced."""
        await self._send(Call("POST", "/v1/extraction/reset"))

    async def last_consolidation(self) -> records.job.ConsolidationReport:
        """Return the report of the latest cycle; NotFound before the first."""
        return await self._ask(records.job.ConsolidationReport, "GET", "/v1/consolidation")

    async def jobs(
        self, *, state: records.job.JobState | None = None, limit: int = 100
    ) -> Sequence[wire.upkeep.JobAnswer]:
        """List jobs, the newest first."""
        wanted = {"state": state, "limit": limit}
        return (await self._ask(wire.upkeep.JobList, "GET", "/v1/jobs", parameters=wanted)).items

    async def job(self, job: str) -> wire.upkeep.JobAnswer:
        """Return a job: its state, and its report once it is done."""
        return await self._ask(wire.upkeep.JobAnswer, "GET", f"/v1/jobs/{segment(job)}")

    async def wait_for_job(
        self,
        job: str,
        *,
        timeout_s: float = 600.0,
        watch: Callable[[wire.upkeep.JobAnswer], object] | None = None,
    ) -> wire.upkeep.JobAnswer:
        """Wait until a job is done.

        Args:
            job: Its id.
            timeout_s: Longest to wait.
            watch: Told how the job stands, each time it is asked for.

        Raises:
            Timeout: It has not ended by then; it goes on all the same.
            Conflict: It was cancelled.
            EcphoriaError: It failed; the error is the one it failed with.
        """
        until, pause = monotonic() + timeout_s, _FIRST_PAUSE_S
        while True:
            found = await self.job(job)
            if watch is not None:
                watch(found)
            if found.state is records.job.JobState.DONE:
                return found
            if found.state in records.job.ENDED:
                raise failure_of(found)
            if monotonic() > until:
                raise late(found, timeout_s)
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, _LONGEST_PAUSE_S)

    async def cancel_job(self, job: str) -> wire.upkeep.JobAnswer:
        """Cancel a job; a running one ends at its next checkpoint."""
        return await self._ask(wire.upkeep.JobAnswer, "POST", f"/v1/jobs/{segment(job)}/cancel")

    async def retry_job(self, job: str) -> wire.upkeep.JobAnswer:
        """Queue a failed, dead or cancelled job again, with fresh attempts."""
        path = f"/v1/jobs/{segment(job)}/retry"
        return await self._ask(wire.upkeep.JobAnswer, "POST", path, repeatable=False)

    async def doctor(self, *, timeout_s: float = 600.0) -> records.upkeep.IntegrityReport:
        """Check the integrity of the graph and its counts; changes nothing.

        Needs the scope admin.

        Args:
            timeout_s: Longest to wait for the end; it takes longer the larger the memory.
        """
        return await self._ask(
            records.upkeep.IntegrityReport, "GET", "/v1/doctor", timeout_s=timeout_s
        )

    async def engrams(
        self, *, kind: records.episode.EngramKind | str | None = None, page_size: int = 100
    ) -> AsyncIterator[records.episode.Engram]:
        """Iterate over the summaries of sessions and clusters, page by page.

        Args:
            kind: Only those of `session` or `cluster`.
            page_size: How many to ask for at once.
        """
        async for page in self._pages(
            wire.upkeep.EngramPage, "/v1/engrams", kind=kind, limit=page_size
        ):
            for engram in page.items:
                yield engram

    async def dormant(self, *, page_size: int = 100) -> AsyncIterator[records.upkeep.Sleeper]:
        """Iterate over dormant episodes in the order of their append, page by page."""
        async for page in self._pages(wire.upkeep.SleeperPage, "/v1/dormancy", limit=page_size):
            for sleeper in page.items:
                yield sleeper

    async def archived(
        self, *, session: str | None = None, speaker: str | None = None, page_size: int = 100
    ) -> AsyncIterator[records.upkeep.ArchivedMemory]:
        """Iterate over archived episodes in the order of their append, page by page.

        Args:
            session: Only those of this session.
            speaker: Only those of this speaker.
            page_size: How many to ask for at once.
        """
        async for page in self._pages(
            wire.upkeep.ArchivedPage,
            "/v1/archive",
            session=session,
            speaker=speaker,
            limit=page_size,
        ):
            for memory in page.items:
                yield memory

    async def put_to_sleep(self, episodes: Sequence[str]) -> Sequence[str]:
        """Make live memories dormant, except pinned ones; returns those that became dormant."""
        wanted = body_of(wire.upkeep.IdsRequest, ids=tuple(episodes))
        done = await self._ask(wire.upkeep.IdsAnswer, "POST", "/v1/dormancy/sleep", wanted)
        return done.ids

    async def wake(self, episodes: Sequence[str]) -> Sequence[str]:
        """Make dormant memories live again, unchanged; returns those that became live."""
        wanted = body_of(wire.upkeep.IdsRequest, ids=tuple(episodes))
        done = await self._ask(wire.upkeep.IdsAnswer, "POST", "/v1/dormancy/wake", wanted)
        return done.ids

    async def set_extraction(self, episode: str, extraction: wire.episodes.Extraction) -> None:
        """Give a live episode names and facts, in place of all that were sent or read before.

        Args:
            episode: Its id.
            extraction: The names and facts; an empty one removes all but those of the rules.
        """
        path = f"/v1/episodes/{segment(episode)}/extraction"
        await self._send(Call("PUT", path, body=extraction))

    async def pin(self, episode: str, *, pinned: bool = True) -> None:
        """Pin or unpin a memory; pinned memories never become dormant."""
        method = "PUT" if pinned else "DELETE"
        await self._send(Call(method, f"/v1/episodes/{segment(episode)}/pin"))

    async def archive(
        self, *, days: float = 90.0, timeout_s: float = 600.0
    ) -> wire.upkeep.ArchiveAnswer:
        """Move long dormant memories to the files of the archive; needs the scope admin.

        Args:
            days: Only what has slept for so many days.
            timeout_s: Longest to wait for the end.
        """
        wanted = body_of(wire.upkeep.ArchiveRequest, days=days)
        return await self._ask(
            wire.upkeep.ArchiveAnswer, "POST", "/v1/archive", wanted, timeout_s=timeout_s
        )

    async def restore(self, episodes: Sequence[str]) -> records.upkeep.Restored:
        """Restore archived memories as dormant, byte for byte; returns damaged records too."""
        wanted = body_of(wire.upkeep.IdsRequest, ids=tuple(episodes))
        return await self._ask(records.upkeep.Restored, "POST", "/v1/archive/restore", wanted)

    async def scrub(self, *, timeout_s: float = 600.0) -> records.upkeep.Scrub:
        """Check every record of the archive; needs the scope admin.

        Args:
            timeout_s: Longest to wait for the end.
        """
        return await self._ask(
            records.upkeep.Scrub, "POST", "/v1/archive/scrub", timeout_s=timeout_s
        )

    async def list_merges(
        self, *, status: str | None = None, cursor: str | None = None, limit: int = 100
    ) -> wire.facts.MergePage:
        """List the merges that consolidation proposed.

        Args:
            status: Only `proposed`, `accepted` or `rejected` ones.
            cursor: `next_cursor` of the page before.
            limit: Size of the page.
        """
        wanted = {"status": status, "cursor": cursor, "limit": limit}
        return await self._ask(wire.facts.MergePage, "GET", "/v1/merges", parameters=wanted)

    async def accept_merge(self, one: str, other: str) -> records.fact.Merge:
        """Accept a merge: recall treats two concepts as one.

        Args:
            one: The name of one concept, as `merges` lists it.
            other: The name of the other.
        """
        return await self._set_merge_status(one, other, records.fact.MergeStatus.ACCEPTED)

    async def reject_merge(self, one: str, other: str) -> records.fact.Merge:
        """Reject a merge; consolidation does not propose it again.

        Args:
            one: The name of one concept, as `merges` lists it.
            other: The name of the other.
        """
        return await self._set_merge_status(one, other, records.fact.MergeStatus.REJECTED)

    async def undo_merge(self, one: str, other: str) -> records.fact.Merge:
        """Undo the decision about two concepts.

        Args:
            one: The name of one concept, as `merges` lists it.
            other: The name of the other.
        """
        return await self._set_merge_status(one, other, records.fact.MergeStatus.PROPOSED)

    async def _set_merge_status(
        self, one: str, other: str, status: records.fact.MergeStatus
    ) -> records.fact.Merge:
        wanted = body_of(wire.facts.MergeRequest, one=one, other=other, status=status)
        return await self._ask(records.fact.Merge, "PUT", "/v1/merges", wanted)
