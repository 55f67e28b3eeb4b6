"""The calls of the asynchronous client that administer a service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from ecphoria import records, wire
from ecphoria.client.async_connection import AsyncCalls
from ecphoria.client.async_jobs import AsyncJobs
from ecphoria.client.exchange import Call, body_of, segment

_EMBEDDING = "/v1/embedding"


class AsyncAdmin(AsyncCalls):
    """Tenants, keys, the embedding model, the integrity and the calibration of a memory."""

    async def me(self) -> records.tenant.Me:
        """Describe the key in use: its tenant, and what it may do."""
        return await self._ask(records.tenant.Me, "GET", "/v1/me")

    async def tenants(self) -> Sequence[records.tenant.Tenant]:
        """List the tenants by name; needs an operator's key."""
        return (await self._ask(wire.admin.TenantList, "GET", "/v1/tenants")).items

    async def create_tenant(self, name: str) -> records.tenant.Tenant:
        """Create a tenant; needs an operator's key."""
        wanted = body_of(wire.admin.TenantRequest, name=name)
        return await self._ask(
            records.tenant.Tenant, "POST", "/v1/tenants", wanted, repeatable=False
        )

    async def erase_tenant(self, name: str) -> wire.admin.ErasureAnswer:
        """Erase a tenant with everything it owns; returns the counts."""
        path = f"/v1/tenants/{segment(name)}"
        return await self._ask(wire.admin.ErasureAnswer, "DELETE", path, repeatable=False)

    async def disk(self) -> records.upkeep.Disk:
        """Read the size of the whole store on disk by kind; needs an operator's key."""
        return await self._ask(records.upkeep.Disk, "GET", "/v1/disk")

    async def keys(self) -> Sequence[records.tenant.ApiKey]:
        """List the tenant's keys, without their secrets."""
        return (await self._ask(wire.admin.KeyList, "GET", "/v1/keys")).items

    async def issue_key(
        self, name: str, scopes: Sequence[records.tenant.Scope], *, expires_in_s: int | None = None
    ) -> records.tenant.IssuedKey:
        """Issue a key of the tenant; only this answer holds its secret.

        Args:
            name: Its purpose.
            scopes: What it may do.
            expires_in_s: Seconds until it is refused; without it the key has no end.
        """
        wanted = body_of(
            wire.admin.KeyRequest, name=name, scopes=scopes, expires_in_s=expires_in_s
        )
        return await self._ask(
            records.tenant.IssuedKey, "POST", "/v1/keys", wanted, repeatable=False
        )

    async def revoke_key(self, key: str) -> None:
        """Revoke a key by its id; it is refused within seconds."""
        await self._send(Call("DELETE", f"/v1/keys/{segment(key)}", repeatable=False))

    async def sign_out(self) -> None:
        """Revoke the key in use, if it is one that expires."""
        await self._send(Call("DELETE", "/v1/me", repeatable=False))

    async def explorer_ticket(self, *, write: bool = False) -> wire.admin.TicketAnswer:
        """Make a ticket that signs one browser in to the explorer, once, within two minutes.

        Needs the scope admin. Open `/explorer#ticket=TICKET` of the service with it.

        Args:
            write: Whether the browser may also change the memory.
        """
        wanted = body_of(wire.admin.TicketRequest, write=write)
        return await self._ask(
            wire.admin.TicketAnswer, "POST", "/v1/explorer/tickets", wanted, repeatable=False
        )

    async def doctor(self, *, timeout_s: float = 600.0) -> records.upkeep.IntegrityReport:
        """Check the integrity of the graph and its counts; changes nothing.

        Needs the scope admin.

        Args:
            timeout_s: Longest to wait for the end; it takes longer the larger the memory.
        """
        return await self._ask(
            records.upkeep.IntegrityReport, "GET", "/v1/doctor", timeout_s=timeout_s
        )

    async def calibrate(
        self,
        *,
        memories: int = 200,
        seed: int = 1,
        false_refusals: float = 0.021,
        question_type: bool = False,
        judged: bool = False,
        timeout_s: float = 600.0,
        watch: Callable[[records.job.Job], object] | None = None,
    ) -> records.calibration.Calibration:
        """Fit a gate on questions made of the tenant's memories; needs the scope admin.

        It applies nothing; `settings.change(gate=...)` takes the gate.

        Args:
            memories: Number of memories to make questions of, 10 to 2,000.
            seed: Of the sample and of the questions.
            false_refusals: Share of answerable questions that the gate may refuse.
            question_type: Also weigh the type of the question, not only its hits.
            judged: Report the judgement of each question too.
            timeout_s: Longest to wait for the end.
            watch: Told how the job stands, each time it is asked for.
        """
        queued = await self.start_calibration(
            memories=memories,
            seed=seed,
            false_refusals=false_refusals,
            question_type=question_type,
            judged=judged,
        )
        jobs = AsyncJobs(self._connection)
        done = await jobs.wait(queued.id, timeout_s=timeout_s, watch=watch)
        assert done.calibration is not None, "a calibration that is done has a gate"
        return done.calibration

    async def start_calibration(
        self,
        *,
        memories: int = 200,
        seed: int = 1,
        false_refusals: float = 0.021,
        question_type: bool = False,
        judged: bool = False,
    ) -> records.job.Job:
        """Queue what `calibrate` does, without waiting for its end."""
        wanted = body_of(
            records.calibration.CalibrationOptions,
            memories=memories,
            seed=seed,
            false_refusals=false_refusals,
            question_type=question_type,
            judged=judged,
        )
        return await self._ask(records.job.Job, "POST", "/v1/gate/calibrations", wanted)

    async def fit_gate(
        self,
        samples: Sequence[records.calibration.Sample],
        *,
        false_refusals: float = 0.021,
        question_type: bool = False,
        judged: bool = False,
        data_sha256: str = "0" * 64,
    ) -> records.calibration.Calibration:
        """Fit a gate on labelled questions that were asked; needs the scope admin.

        Args:
            samples: The evidence of each question's recall; 5,000 at most.
            false_refusals: Share of answerable questions that the gate may refuse.
            question_type: Also weigh the type of the question, not only its hits.
            judged: Report the judgement of each question too.
            data_sha256: Of the file with the questions.
        """
        wanted = body_of(
            records.calibration.FitRequest,
            samples=tuple(samples),
            false_refusals=false_refusals,
            question_type=question_type,
            judged=judged,
            data_sha256=data_sha256,
        )
        return await self._ask(records.calibration.Calibration, "POST", "/v1/gate/fits", wanted)

    async def reset_extraction(self) -> None:
        """Have the step `extract` read every live episode again; results stay until replaced."""
        await self._send(Call("POST", "/v1/extraction/reset"))

    async def change_embedding(
        self,
        model: str,
        *,
        provider: records.embedding.Provider = "openai",
        dimension: int | None = None,
        request_dimension: bool = False,
        base_url: str | None = None,
    ) -> records.embedding.Reembedding:
        """Start to make the vectors of another model; the service switches when all are made.

        Args:
            model: Its name.
            provider: Maker of the vectors; `openai` is any endpoint with its API.
            dimension: Length of the vectors; needed for `openai`.
            request_dimension: Ask the endpoint for this dimension.
            base_url: Address of the endpoint; the service's setting if absent.
        """
        wanted = body_of(
            records.embedding.EmbedderChoice,
            model=model,
            provider=provider,
            dimension=dimension,
            request_dimension=request_dimension,
            base_url=base_url,
        )
        return await self._ask(
            records.embedding.Reembedding, "POST", _EMBEDDING, wanted, repeatable=False
        )

    async def embedding_change(self) -> records.embedding.Reembedding:
        """Show the change of the model that is under way, or was the last."""
        return await self._ask(records.embedding.Reembedding, "GET", _EMBEDDING)

    async def cancel_embedding_change(self) -> records.embedding.Reembedding:
        """Cancel the change before the switch; the store goes on with its old vectors."""
        return await self._ask(records.embedding.Reembedding, "DELETE", _EMBEDDING)

    async def wait_for_embedding(
        self,
        *,
        watch: Callable[[records.embedding.Reembedding], object] | None = None,
        poll_s: float = 0.5,
    ) -> records.embedding.Reembedding:
        """Wait for the end of the change, and return how it ended.

        Args:
            watch: Told at each look how it stands.
            poll_s: Seconds between two looks.
        """
        while True:
            found = await self.embedding_change()
            if watch is not None:
                watch(found)
            if found.state in records.embedding.ENDED:
                return found
            await asyncio.sleep(poll_s)
